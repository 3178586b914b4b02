package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// Dealer is a ZeroMQ socket of this type, as ZMTP 3.0 (RFC 23) describes it, with the mechanism NULL. A program of
// its own would use a ZeroMQ library, which also reconnects.
type Dealer struct {
	conn net.Conn
	in   *bufio.Reader
}

const (
	more, long, command = 1, 2, 4
	maxFrame            = 17 << 20
	handshakeTime       = 10 * time.Second
)

func DialDealer(address string) (*Dealer, error) {
	path := strings.TrimPrefix(address, "ipc://")
	if path == address {
		return nil, fmt.Errorf("%s is not ipc:///path: tcp needs CURVE or signed messages", address)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	dealer := &Dealer{conn, bufio.NewReader(conn)}
	if err := dealer.greet(); err != nil {
		conn.Close()
		return nil, err
	}
	return dealer, nil
}

func (dealer *Dealer) Close() { dealer.conn.Close() }

func (dealer *Dealer) greet() error {
	if err := dealer.conn.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return err
	}
	greeting := make([]byte, 64)
	greeting[0], greeting[9], greeting[10] = 0xff, 0x7f, 3
	copy(greeting[12:], "NULL")
	if _, err := dealer.conn.Write(greeting); err != nil {
		return err
	}
	if _, err := io.ReadFull(dealer.in, greeting); err != nil {
		return err
	}
	mechanism := strings.TrimRight(string(greeting[12:32]), "\x00")
	if greeting[0] != 0xff || greeting[9]&1 != 1 || greeting[10] < 3 || mechanism != "NULL" {
		return fmt.Errorf("the server does not speak ZMTP 3 with NULL, but %q", mechanism)
	}
	if err := dealer.writeFrame(command, []byte("\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER")); err != nil {
		return err
	}
	flags, body, err := dealer.readFrame()
	if err != nil {
		return err
	}
	if flags&command == 0 || !strings.HasPrefix(string(body), "\x05READY") {
		return fmt.Errorf("the server refused the handshake: %q", body)
	}
	return dealer.conn.SetDeadline(time.Time{})
}

// Send sends a message, all its frames at once.
func (dealer *Dealer) Send(frames [][]byte) error {
	for at, frame := range frames {
		flags := byte(more)
		if at == len(frames)-1 {
			flags = 0
		}
		if err := dealer.writeFrame(flags, frame); err != nil {
			return err
		}
	}
	return nil
}

// Receive waits for the next message, and answers pings in between.
func (dealer *Dealer) Receive() ([][]byte, error) {
	for frames := [][]byte{}; ; {
		flags, body, err := dealer.readFrame()
		if err != nil {
			return nil, err
		}
		if flags&command != 0 {
			// PING: its name, a time to live of two bytes, and the context that PONG returns.
			if name := "\x04PING"; strings.HasPrefix(string(body), name) && len(body) >= len(name)+2 {
				err = dealer.writeFrame(command, append([]byte("\x04PONG"), body[len(name)+2:]...))
			}
			if err != nil {
				return nil, err
			}
			continue
		}
		frames = append(frames, body)
		if flags&more == 0 {
			return frames, nil
		}
	}
}

func (dealer *Dealer) writeFrame(flags byte, body []byte) error {
	head := []byte{flags, byte(len(body))}
	if len(body) > 255 {
		head = binary.BigEndian.AppendUint64([]byte{flags | long}, uint64(len(body)))
	}
	_, err := dealer.conn.Write(append(head, body...))
	return err
}

func (dealer *Dealer) readFrame() (flags byte, body []byte, err error) {
	if flags, err = dealer.in.ReadByte(); err != nil {
		return
	}
	size := make([]byte, 8)
	if flags&long == 0 {
		_, err = io.ReadFull(dealer.in, size[7:])
	} else {
		_, err = io.ReadFull(dealer.in, size)
	}
	length := binary.BigEndian.Uint64(size)
	if err == nil && length > maxFrame {
		err = errors.New("the server sent a frame that is too large")
	}
	if err != nil {
		return
	}
	body = make([]byte, length)
	_, err = io.ReadFull(dealer.in, body)
	return
}
