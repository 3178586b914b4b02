import unittest
from tail import last


class Last(unittest.TestCase):
    def test_last(self):
        self.assertEqual(last([1, 2, 3], 2), [2, 3])


if __name__ == "__main__":
    unittest.main()
