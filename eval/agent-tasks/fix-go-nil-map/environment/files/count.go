package main

import "fmt"

func count(words []string) map[string]int {
	var seen map[string]int
	for _, word := range words {
		seen[word]++
	}
	return seen
}

func main() {
	fmt.Println(count([]string{"a", "b", "a"})["a"])
}
