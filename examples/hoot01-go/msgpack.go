package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

type Map = map[string]any

// Encode writes maps, lists, texts, bytes, integers, floats, booleans and nil.
func Encode(value any) []byte {
	switch one := value.(type) {
	case nil:
		return []byte{0xc0}
	case bool:
		if one {
			return []byte{0xc3}
		}
		return []byte{0xc2}
	case int:
		return binary.BigEndian.AppendUint64([]byte{0xd3}, uint64(one))
	case float64:
		return binary.BigEndian.AppendUint64([]byte{0xcb}, math.Float64bits(one))
	case string:
		return append(sized(0xdb, len(one)), one...)
	case []byte:
		return append(sized(0xc6, len(one)), one...)
	case []any:
		out := sized(0xdd, len(one))
		for _, item := range one {
			out = append(out, Encode(item)...)
		}
		return out
	case Map:
		out := sized(0xdf, len(one))
		for name, field := range one {
			out = append(append(out, Encode(name)...), Encode(field)...)
		}
		return out
	}
	panic(fmt.Sprintf("MsgPack has no form for %T", value))
}

func sized(kind byte, length int) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, uint32(length))
}

const maxDepth = 64

// Decode reads one value; integers become int64, floats float64.
func Decode(body []byte) (any, error) {
	in := bytes.NewReader(body)
	value, err := read(in, 0)
	if err == nil && in.Len() > 0 {
		err = errors.New("bytes after the value")
	}
	return value, err
}

func read(in *bytes.Reader, depth int) (any, error) {
	kind, err := in.ReadByte()
	if err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	switch {
	case depth > maxDepth:
		return nil, errors.New("nested too deeply")
	case kind < 0x80:
		return int64(kind), nil
	case kind < 0x90:
		return readMap(in, uint64(kind&0x0f), depth)
	case kind < 0xa0:
		return readList(in, uint64(kind&0x0f), depth)
	case kind < 0xc0:
		text, err := readBytes(in, uint64(kind&0x1f))
		return string(text), err
	case kind >= 0xe0:
		return int64(int8(kind)), nil
	case kind == 0xc0:
		return nil, nil
	case kind == 0xc2, kind == 0xc3:
		return kind == 0xc3, nil
	}
	// The others begin with a number of 1, 2, 4 or 8 bytes: the value, or a length.
	width, isKnown := map[byte]uint64{
		0xc4: 1, 0xc5: 2, 0xc6: 4, 0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8,
		0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4,
	}[kind]
	if !isKnown {
		return nil, fmt.Errorf("the wire does not use the type %#x", kind)
	}
	digits, err := readBytes(in, width)
	if err != nil {
		return nil, err
	}
	number := binary.BigEndian.Uint64(append(make([]byte, 8-width), digits...))
	switch {
	case kind <= 0xc6:
		return readBytes(in, number)
	case kind == 0xca:
		return float64(math.Float32frombits(uint32(number))), nil
	case kind == 0xcb:
		return math.Float64frombits(number), nil
	case kind <= 0xcf:
		return int64(number), nil
	case kind <= 0xd3:
		shift := 64 - 8*width
		return int64(number<<shift) >> shift, nil
	case kind <= 0xdb:
		text, err := readBytes(in, number)
		return string(text), err
	case kind <= 0xdd:
		return readList(in, number, depth)
	}
	return readMap(in, number, depth)
}

func readBytes(in *bytes.Reader, length uint64) ([]byte, error) {
	if length > uint64(in.Len()) {
		return nil, io.ErrUnexpectedEOF
	}
	taken := make([]byte, length)
	_, err := io.ReadFull(in, taken)
	return taken, err
}

func readList(in *bytes.Reader, length uint64, depth int) (any, error) {
	list := []any{}
	for ; length > 0; length-- {
		item, err := read(in, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, nil
}

func readMap(in *bytes.Reader, length uint64, depth int) (any, error) {
	fields := Map{}
	for ; length > 0; length-- {
		name, err := read(in, depth+1)
		if err != nil {
			return nil, err
		}
		key, isText := name.(string)
		if !isText {
			return nil, errors.New("a key is not a text")
		}
		if fields[key], err = read(in, depth+1); err != nil {
			return nil, err
		}
	}
	return fields, nil
}
