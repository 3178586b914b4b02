package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A condition of a rule is surely, maybe or not about a part of the call. An allow rule needs all parts to be sure;
// for a deny or prompt rule one maybe is enough.
type verdict int

// The larger of two is one | other.
const no, maybe, sure verdict = 0b00, 0b01, 0b11

var strictness = map[string]int{"allow": 0, "prompt": 1, "deny": 2}

type policyInput struct {
	Files, Links map[string]string
	Actions      map[string]object
	Tiers        map[string][]rule
	Call         struct {
		Name  string
		Input object
	}
}

type rule struct {
	Pattern string `json:"tool_pattern"`
	Mode    string
	Args    object
}

// thing is what an argument holds.
type thing struct {
	argument, kind string
	value          any
}

func decide(raw json.RawMessage) any {
	folder, err := os.MkdirTemp("", "vectors-")
	must(err)
	defer os.RemoveAll(folder)
	root, input := realPath(folder), policyInput{}
	must(json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "{root}", root)), &input))
	for path, content := range input.Files {
		must(os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		must(os.WriteFile(filepath.Join(root, path), []byte(content), 0o644))
	}
	for path, target := range input.Links {
		must(os.Symlink(target, filepath.Join(root, path)))
	}
	// A foreign tool does not declare what its arguments hold.
	holds, isDeclared := input.Actions[input.Call.Name]
	things := []thing{}
	if !isDeclared {
		holds, things = object{}, guessed(input.Call.Input)
		for name := range input.Call.Input {
			holds[name] = nil
		}
	}
	things = append(things, declared(holds, input.Call.Input, "")...)
	decided, strictest := object{"mode": "prompt", "tier": "default", "rule": nil}, -1
	for _, tier := range []string{"user", "project", "local", "environment"} {
		for at, one := range input.Tiers[tier] {
			if !one.applies(root, input.Call.Name, things) {
				continue
			}
			// Of equally strict ones, the highest tier is named.
			if strictness[one.Mode] > strictest {
				strictest, decided = strictness[one.Mode], object{"mode": one.Mode, "tier": tier, "rule": at}
			}
			break
		}
	}
	return decided
}

var patched = regexp.MustCompile(`(?m)^(?:--- (?:a/)?|\+{3} (?:b/)?|(?:rename|copy) (?:from|to) |\*{3} \w+ \w+: )(.+)`)

func declared(holds, given object, argument string) (found []thing) {
	for name, held := range holds {
		value, at := given[name], orElse(argument, name)
		kind, _ := held.(string)
		if value == nil && kind == "tree" {
			value = "."
		}
		inner, isNested := held.([]any)
		list, isList := value.([]any)
		fields, isObject := value.(object)
		switch {
		case value == nil || (isObject && len(fields) == 0) || (isList && kind == "patch"):
		case isNested && isObject:
			found = append(found, declared(inner[0].(object), fields, at)...)
		case isList && kind != "command":
			for _, one := range list {
				found = append(found, declared(object{name: held}, object{name: one}, at)...)
			}
		case kind == "patch" && !patched.MatchString(value.(string)):
			// It may be about any file: a URL is a path that nobody can compare.
			found = append(found, thing{at, "path", "any://"})
		case kind == "patch":
			for _, path := range patched.FindAllStringSubmatch(value.(string), -1) {
				if path[1] != "/dev/null" {
					found = append(found, thing{at, "path", path[1]})
				}
			}
		case isObject && kind == "":
			found = append(found, thing{at, "object", value})
		default:
			found = append(found, thing{at, orElse(kind, "value"), value})
		}
	}
	return found
}

// guessed: every text in the input of a foreign tool may be a path or a command.
func guessed(value any) (found []thing) {
	list, _ := value.([]any)
	fields, _ := value.(object)
	for _, inner := range fields {
		list = append(list, inner)
	}
	for _, inner := range list {
		found = append(found, guessed(inner)...)
	}
	if text, isText := value.(string); isText {
		found = append(found, thing{"", "tree", text}, thing{"", "command", text}, thing{"", "foreign", text})
	}
	return found
}

var (
	aServer = regexp.MustCompile(`\Amcp__(?:[^_]|_[^_])+\z`)
	anySign = regexp.MustCompile(`[.*?{}\[\]]`)
	// What a condition of this name looks at; any other is about the argument of that name.
	about = map[string]string{"path": "path tree foreign", "command": "command environment foreign"}
)

// applies: a bare tool or server in the pattern stands for all in it.
func (one rule) applies(root, name string, things []thing) bool {
	below := ".*"
	if aServer.MatchString(one.Pattern) {
		below = "__*"
	}
	isBare := !anySign.MatchString(one.Pattern)
	if !matches(one.Pattern, name) && !(isBare && matches(one.Pattern+below, name)) {
		return false
	}
	for argument, wanted := range one.Args {
		if !one.holds(root, argument, wanted, things) {
			return false
		}
	}
	return true
}

func (one rule) holds(root, argument string, wanted any, things []thing) bool {
	choices, isList := wanted.([]any)
	if !isList || (argument == "command" && len(texts(choices[0])) == 0) {
		choices = []any{wanted}
	}
	isHeld := false
	for _, thing := range things {
		kinds, isKind := about[argument]
		if isKind && !strings.Contains(kinds, thing.kind) || !isKind && thing.argument != argument {
			continue
		}
		best := no
		for _, choice := range choices {
			best |= thing.judge(root, choice)
		}
		if one.Mode == "allow" && best < sure {
			return false
		}
		isHeld = isHeld || best >= maybe
	}
	return isHeld
}

func (of thing) judge(root string, wanted any) verdict {
	text, isText := of.value.(string)
	glob, isGlob := wanted.(string)
	switch {
	case of.kind == "object":
		return maybe
	case of.kind == "path" || of.kind == "tree":
		return pathVerdict(root, text, glob, of.kind == "tree")
	case of.kind == "command":
		return commandVerdict(of.value, texts(wanted))
	case of.kind == "value" && (isText && isGlob && matches(glob, text) || !isText && of.value == wanted):
		return sure
	}
	return no
}
