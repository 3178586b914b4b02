// An implementation of five domains of the vectors in Go, with its standard library alone. It shares no code with
// Octant; vectors/README.md describes the protocol.
package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type object = map[string]any

var domains = map[string]func(json.RawMessage) any{
	"sse-frames":        taking(sseFrames),
	"mcp-normalization": taking(normalize),
	"permission-policy": taking(decide),
	"oauth-pkce":        taking(challenge),
	"backoff-timing":    taking(timeBackoff),
}

func taking[Input any](answer func(Input) any) func(json.RawMessage) any {
	return func(text json.RawMessage) any {
		var input Input
		must(json.Unmarshal(text, &input))
		return answer(input)
	}
}

func main() {
	for in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout); in.More(); {
		var asked struct {
			ID, Domain string
			Input      json.RawMessage
		}
		must(in.Decode(&asked))
		answer, isKnown := domains[asked.Domain]
		if !isKnown {
			log.Fatalf("%s: the domain %s is not implemented", asked.ID, asked.Domain)
		}
		must(out.Encode(object{"id": asked.ID, "output": answer(asked.Input)}))
	}
}

// must ends the program: the tester then names the case that was not answered.
func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

var digits = regexp.MustCompile(`^[0-9]+$`)

func sseFrames(input struct{ Chunks []string }) any {
	frames, open := []object{}, newFrame()
	for number, line := range splitLines(input.Chunks) {
		if number == 0 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && open["data"] != nil:
			frames = append(frames, open)
			fallthrough
		case line == "":
			open = newFrame()
		case name == "data" && open["data"] != nil:
			open["data"] = open["data"].(string) + "\n" + value
		case name == "data" || name == "event" || (name == "id" && !strings.Contains(value, "\x00")):
			open[name] = value
		case name == "retry" && digits.MatchString(value):
			open[name], _ = new(big.Int).SetString(value, 10)
		}
	}
	return object{"frames": frames}
}

func newFrame() object { return object{"event": nil, "data": nil, "id": nil, "retry": nil} }

// splitLines reads chunk by chunk. A CR at the end of one may be the first half of a CRLF. The end of the stream ends
// the last line and its event.
func splitLines(chunks []string) []string {
	lines, afterCR := []string{""}, false
	for _, chunk := range chunks {
		for _, char := range chunk {
			switch {
			case char == '\n' && afterCR:
			case char == '\r' || char == '\n':
				lines = append(lines, "")
			default:
				lines[len(lines)-1] += string(char)
			}
			afterCR = char == '\r'
		}
	}
	return append(lines, "")
}

const maxServer, maxName, hashDigits = 26, 60, 8

var (
	outsideServer = regexp.MustCompile(`[^A-Za-z0-9-]+`)
	outsideTool   = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	verifier      = regexp.MustCompile(`^[A-Za-z0-9\-._~]{43,128}$`)
)

type place struct{ Server, Tool string }

func normalize(input struct{ Places []place }) any {
	servers, tools, taken := map[string]string{}, map[place]string{}, map[string]bool{}
	names := []string{}
	for _, at := range input.Places {
		if servers[at.Server] == "" {
			part := strings.Trim(outsideServer.ReplaceAllString(at.Server, "_"), "_")
			servers[at.Server] = fit("", orElse(part, "server"), at.Server, maxServer, taken)
		}
		if tools[at] == "" {
			part := orElse(outsideTool.ReplaceAllString(at.Tool, "_"), "tool")
			tools[at] = fit("mcp__"+servers[at.Server]+"__", part, at.Tool, maxName, taken)
		}
		names = append(names, tools[at])
	}
	return object{"names": names}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// fit cuts a part that is too long or taken, and adds a hash of the original.
func fit(start, part, original string, room int, taken map[string]bool) string {
	name, most := start+part, room-len(start)-hashDigits-1
	for salt := ""; len(name) > room || taken[name]; salt += "#" {
		if len(part) > most {
			part = part[:most]
		}
		digest := fmt.Sprintf("%x", sha256.Sum256([]byte(original+salt)))
		name = start + strings.TrimRight(part, "_") + "_" + digest[:hashDigits]
	}
	taken[name] = true
	return name
}

func challenge(input struct{ Verifier string }) any {
	if !verifier.MatchString(input.Verifier) {
		return object{"error": "invalid_verifier"}
	}
	digest := sha256.Sum256([]byte(input.Verifier))
	return object{"challenge": base64.RawURLEncoding.EncodeToString(digest[:])}
}

type timing struct {
	Base       float64 `json:"base_ms"`
	Max        float64 `json:"max_ms"`
	Random     []float64
	ResetAfter int `json:"reset_after"`
	Attempts   []float64
	Headers    map[string]string
	Text       string
	Now        float64
}

var (
	number  = regexp.MustCompile(`^\d+(\.\d+)?$`)
	inWords = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after)\s*(\d+(?:\.\d+)?)\s*(ms|s\b|sec)`)
)

func timeBackoff(input timing) any {
	if input.Headers != nil {
		return object{"retry_after_ms": input.retryAfter()}
	}
	numbers := []float64{}
	for _, attempt := range input.Attempts {
		numbers = append(numbers, input.longest(attempt))
	}
	if input.Attempts != nil {
		return object{"caps_ms": numbers}
	}
	for at, random := range input.Random {
		if at >= input.ResetAfter {
			at -= input.ResetAfter
		}
		numbers = append(numbers, random*input.longest(float64(at)))
	}
	return object{"delays_ms": numbers}
}

// longest: a float holds no 2^1024, and zero times infinity is not a number.
func (input timing) longest(attempt float64) float64 {
	return math.Min(input.Max, input.Base*math.Exp2(math.Min(attempt, 1023)))
}

// retryAfter is nil when the server says nothing.
func (input timing) retryAfter() any {
	milliseconds, seconds := input.Headers["retry-after-ms"], input.Headers["retry-after"]
	date, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", seconds)
	words := inWords.FindStringSubmatch(input.Text)
	switch {
	case number.MatchString(milliseconds):
		return toMilliseconds(milliseconds, "ms")
	case number.MatchString(seconds):
		return toMilliseconds(seconds, "s")
	case err == nil:
		return math.Max(0, float64(date.UnixMilli())-input.Now)
	case words != nil:
		return toMilliseconds(words[1], words[2])
	}
	return nil
}

func toMilliseconds(text, unit string) float64 {
	value, err := strconv.ParseFloat(text, 64)
	must(err)
	if strings.EqualFold(unit, "ms") {
		return value
	}
	return value * 1000
}
