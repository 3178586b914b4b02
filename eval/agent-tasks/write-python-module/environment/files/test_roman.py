import unittest
from roman import to_roman


class Roman(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual([to_roman(n) for n in (1, 4, 9, 1994)], ["I", "IV", "IX", "MCMXCIV"])


if __name__ == "__main__":
    unittest.main()
