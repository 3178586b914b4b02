// A client of Octant's wire in Go, from docs/wire.md alone: no code of Octant, and no library but Go's own.
//
//	octant serve --zmq ipc:///run/user/1000/octant/wire &
//	go run . ipc:///run/user/1000/octant/wire README.md
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: hoot01-example ipc:///path/of/the/socket FILE")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(address, file string) error {
	client, err := Dial(address)
	if err != nil {
		return err
	}
	defer client.Close()
	ready, err := client.Ready()
	if err != nil {
		return err
	}
	fmt.Printf("connected to %v %v\n", ready["name"], ready["version"])

	read, err := client.Call("fs", "read", Map{"uri": file}, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%s has %d characters\n", file, len([]rune(fmt.Sprint(read["text"]))))

	var refused *ToolError
	if _, err := client.Call("fs", "read", Map{"uri": "no/such/file"}, nil); !errors.As(err, &refused) {
		return fmt.Errorf("a missing file was not refused: %v", err)
	}
	fmt.Printf("a missing file is %s\n", refused.Code)

	// A job: its output arrives while it runs, its result at the end.
	result, err := client.Call("proc", "exec", Map{"command": "for n in 1 2 3; do echo line $n; sleep 0.1; done"},
		func(chunk Map) {
			if chunk["kind"] == "text" {
				fmt.Printf("  %q\n", chunk["text"])
			}
		})
	if err != nil {
		return err
	}
	fmt.Printf("the command ended with exit code %v\n", result["exit_code"])
	return nil
}
