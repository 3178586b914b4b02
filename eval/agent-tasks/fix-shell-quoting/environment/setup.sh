printf 'hello\n' > 'a b.txt'
