package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	localURI = regexp.MustCompile(`(?is)\Afile://(?:localhost)?(/[^?#]*)\z`)
	anyURI   = regexp.MustCompile(`\A(?:file:|[\w+.-]+://)|\x00`)
	ref      = regexp.MustCompile(`\A[a-z][a-z0-9-]{1,31}:(sha256:[0-9a-f]{64}|[a-z]{2,16}_[0-9a-z]+)\z`)
	noSigns  = regexp.MustCompile(`\A(?:/[^/*?\[\]{}\\]*)*`)
)

// pathVerdict: an allow rule looks at the entry and its target; others at the name, too, above and below.
func pathVerdict(root, uri, glob string, isTree bool) verdict {
	if ref.MatchString(uri) {
		return no
	}
	if local := localURI.FindStringSubmatch(uri); local != nil {
		path, err := url.PathUnescape(local[1])
		must(err)
		uri = path
	}
	if anyURI.MatchString(uri) || strings.HasPrefix(glob, "~") {
		return maybe
	}
	named := filepath.Clean(under(root, uri))
	entry, real := filepath.Join(realPath(filepath.Dir(named)), filepath.Base(named)), realPath(named)
	info, err := os.Stat(real)
	isTree = isTree && (err != nil || !info.Mode().IsRegular())
	exact := under(root, strings.TrimPrefix(glob, "./"))
	if strings.HasSuffix(exact, "/") {
		exact += "**"
	}
	wide := exact
	if !strings.Contains(strings.TrimRight(glob, "/"), "/") {
		wide = under(root, "**/"+glob)
	}
	if isSure(exact, entry, isTree) && isSure(exact, real, isTree) {
		return sure
	}
	for _, path := range []string{named, entry, real} {
		for ; path != "/"; path = filepath.Dir(path) {
			if matches(wide, path) {
				return maybe
			}
		}
	}
	// The whole names before the first sign.
	folder := noSigns.FindString(wide)
	if folder != wide && wide[len(folder)] != '/' {
		folder = filepath.Dir(folder)
	}
	if isTree && (strings.HasPrefix(folder+"/", real+"/") || strings.HasPrefix(real+"/", folder+"/")) {
		return maybe
	}
	return no
}

// isSure: a tree is matched when unknown names in it are, too.
func isSure(glob, path string, isTree bool) bool {
	return matches(glob, path) &&
		(!isTree || (matches(glob, path+"/\x01") && matches(glob, path+"/\x01/\x01")))
}

func under(root, path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return root + "/" + path
}

// realPath follows links, also those whose target does not exist yet.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil || path == "/" {
		return real
	}
	folder := realPath(filepath.Dir(path))
	if target, err := os.Readlink(path); err == nil {
		return realPath(under(folder, target))
	}
	return filepath.Join(folder, filepath.Base(path))
}

// globPart is one sign of a glob; the order decides where several fit.
var globPart = regexp.MustCompile(`(?s)/\*\*$|\*\*/|\*\*|\*|\?|\[[^\]]+\]|\{[^{}]+\}|\\?.`)

var signs = map[string]string{"/**": "(?:/.*)?", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}

func toRegexp(glob string) string {
	return globPart.ReplaceAllStringFunc(glob, func(sign string) string {
		known, inner := signs[sign], strings.Trim(sign, "[]{}")
		switch {
		case known != "":
			return known
		case len(sign) > 2 && sign[0] == '[':
			return "[" + strings.Replace(sign[1:2], "!", "^", 1) + sign[2:]
		case len(sign) > 2 && sign[0] == '{':
			choices := strings.Split(inner, ",")
			for at := range choices {
				choices[at] = toRegexp(choices[at])
			}
			return "(?:" + strings.Join(choices, "|") + ")"
		case len(sign) > 1 && sign[0] == '\\':
			sign = sign[1:]
		}
		return regexp.QuoteMeta(sign)
	})
}

// matches is false for a glob that is not one.
func matches(glob, text string) bool {
	compiled, err := regexp.Compile(`(?s)\A(?:` + toRegexp(glob) + `)\z`)
	return err == nil && compiled.MatchString(text)
}

var (
	plainScript = regexp.MustCompile(
		`\A[ \t]*[\w@%+:,./-]+(?:[ \t]+(?:[\w@%+=:,./-]+|'[^'\r\n\x00]*'|"[^"$` + "`" + `\\!\r\n\x00]*"))*[ \t]*\z`)
	word      = regexp.MustCompile(`'[^']*'|"[^"]*"|[^ \t'"]+`)
	openSigns = regexp.MustCompile("[$`{*?\\[]|<<")
	runsText  = regexp.MustCompile(` (-\w*[ce]|--command|--eval|eval) `)
	quotes    = regexp.MustCompile(`['"\\]`)
	between   = regexp.MustCompile(`[\s;&|()<>]+`)
)

// commandVerdict: an allow rule needs one plain command; others take all words of a script as one command.
func commandVerdict(command any, prefix []string) verdict {
	words := texts(command)
	script, isText := command.(string)
	if !isText {
		script = strings.Join(words, " ")
	} else if plainScript.MatchString(script) {
		for _, one := range word.FindAllString(script, -1) {
			words = append(words, strings.Trim(one, `'"`))
		}
	}
	if strings.HasPrefix(strings.Join(words, "\x00")+"\x00", strings.Join(prefix, "\x00")+"\x00") {
		return sure
	}
	isOpen := openSigns.MatchString(script) ||
		strings.Count(script, "'")%2 != 0 || strings.Count(script, `"`)%2 != 0
	if isOpen && (isText || runsText.MatchString(script)) {
		return maybe
	}
	found := 0
	for _, name := range between.Split(quotes.ReplaceAllString(script, ""), -1) {
		if found == 0 && !strings.Contains(prefix[0], "/") {
			name = name[strings.LastIndex(name, "/")+1:]
		}
		if name == prefix[found] {
			found++
		}
		if found == len(prefix) {
			return maybe
		}
	}
	return no
}

func texts(value any) (all []string) {
	list, _ := value.([]any)
	for _, one := range list {
		text, _ := one.(string)
		all = append(all, text)
	}
	return all
}
