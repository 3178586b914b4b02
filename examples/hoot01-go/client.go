package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	ready, request, reply, heartbeat, disconnect = 1, 2, 3, 4, 5
	empty, msgpack                               = 0, 1
)

// ToolError is an error of the tool, such as NOT_FOUND.
type ToolError struct {
	Code, Message string
	Details       any
}

func (err *ToolError) Error() string { return err.Code + ": " + err.Message }

// Client makes one call at a time.
type Client struct{ socket *Dealer }

func Dial(address string) (*Client, error) {
	socket, err := DialDealer(address)
	if err != nil {
		return nil, err
	}
	return &Client{socket}, nil
}

// Close tells the server that this client leaves.
func (client *Client) Close() {
	_ = client.send(disconnect, empty, make([]byte, 16), "", nil)
	client.socket.Close()
}

// Ready announces this client; the answer describes the server.
func (client *Client) Ready() (Map, error) {
	id, err := newID()
	if err != nil {
		return nil, err
	}
	if err := client.send(ready, msgpack, id, "", Map{"protocol": "HOOT01"}); err != nil {
		return nil, err
	}
	return client.receive(ready, id)
}

// Call runs an action and returns its data. With onChunk it runs as a job, and everything that the job emits is
// reported until it has ended.
func (client *Client) Call(tool, action string, input Map, onChunk func(Map)) (Map, error) {
	id, err := newID()
	if err != nil {
		return nil, err
	}
	envelope := Map{"request": Map{"tool": tool, "action": action, "input": input}}
	if onChunk != nil {
		envelope["timing_hint"], envelope["stream"] = "async_long", "full"
	}
	if err := client.send(request, msgpack, id, tool, envelope); err != nil {
		return nil, err
	}
	for {
		answer, err := client.receive(reply, id)
		if err != nil {
			return nil, err
		}
		switch answer["kind"] {
		case "stream_start":
		case "stream_chunk":
			if chunk, isMap := answer["chunk"].(Map); isMap && onChunk != nil {
				onChunk(chunk)
			}
		case "stream_end":
			if dropped, _ := answer["dropped"].(int64); dropped > 0 {
				return nil, fmt.Errorf("%d chunks of the stream are missing", dropped)
			}
			response, _ := answer["response"].(Map)
			return dataOf(response)
		default:
			return dataOf(answer)
		}
	}
}

func dataOf(answer Map) (Map, error) {
	switch answer["kind"] {
	case "success":
		data, _ := answer["data"].(Map)
		return data, nil
	case "error":
		about, _ := answer["error"].(Map)
		return nil, &ToolError{fmt.Sprint(about["code"]), fmt.Sprint(about["message"]), about["details"]}
	case "job_started", "ack":
		return Map{"job_id": answer["job_id"]}, nil
	}
	return nil, fmt.Errorf("an unexpected answer of kind %v", answer["kind"])
}

func (client *Client) send(command, contentType uint16, id []byte, service string, body Map) error {
	frames := [][]byte{[]byte("HOOT01"), u16(command), u16(contentType), id, []byte(service), nil, nil}
	if body != nil {
		frames[6] = Encode(body)
	}
	return client.socket.Send(frames)
}

// receive waits for the next message with this id. A malformed message is refused by a Reply, whatever it was.
func (client *Client) receive(expected uint16, id []byte) (Map, error) {
	for {
		frames, err := client.socket.Receive()
		if err != nil {
			return nil, err
		}
		if len(frames) != 7 || string(frames[0]) != "HOOT01" || len(frames[1]) != 2 || len(frames[2]) != 2 {
			return nil, errors.New("the server sent a message that is not HOOT01")
		}
		if string(frames[3]) != string(id) || binary.BigEndian.Uint16(frames[2]) != msgpack {
			continue
		}
		value, err := Decode(frames[6])
		if err != nil {
			return nil, err
		}
		body, _ := value.(Map)
		if binary.BigEndian.Uint16(frames[1]) == expected {
			return body, nil
		}
		if body["kind"] == "error" {
			return dataOf(body)
		}
	}
}

func u16(value uint16) []byte { return binary.BigEndian.AppendUint16(nil, value) }

func newID() ([]byte, error) {
	id := make([]byte, 16)
	_, err := rand.Read(id)
	return id, err
}
