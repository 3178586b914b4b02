"""A second implementation of the seven domains of HIP-0301 section 18, in plain Python.
It shares no code with Octant; vectors/README.md says what it reads and how to test it."""

import base64, hashlib, json, math, os, re, shlex, sys, tempfile
import copy, difflib, email.utils, urllib.parse
from pathlib import Path

def lines_of(chunks):
    """A CR at the end of a chunk may be the first half of a CRLF: it waits for what follows."""
    pending = ""
    for chunk in chunks:
        *lines, pending = re.split("\r\n|\n|\r(?!\\Z)", pending + chunk)
        yield from lines
    yield from [pending.removesuffix("\r"), ""]

def sse_frames(given):
    frames, fields = [], {}
    for number, line in enumerate(lines_of(given["chunks"])):
        name, _, value = (line if number else line.removeprefix("\ufeff")).partition(":")
        value = value.removeprefix(" ")
        if line == "" and "data" in fields:
            frames.append({key: fields.get(key) for key in ("event", "data", "id", "retry")})
        if line == "":
            fields = {}
        elif name == "data":
            fields["data"] = f"{fields['data']}\n{value}" if "data" in fields else value
        elif name == "event" or (name == "id" and "\0" not in value):
            fields[name] = value
        elif name == "retry" and re.fullmatch("[0-9]+", value):
            fields["retry"] = int(value)
    return {"frames": frames}

def fit(part, original, room, taken):
    """The part when it fits and is free; otherwise its start and a hash of the original."""
    result, salt = part, ""
    while len(result) > room or result in taken:
        digest = hashlib.sha256((original + salt).encode()).hexdigest()[:8]
        result = part[: room - 9].rstrip("_") + "_" + digest
        salt += "#"
    return result

def mcp_normalization(given):
    servers, names = {}, {}
    for place in given["places"]:
        server, tool = place["server"], place["tool"]
        if server not in servers:
            part = re.sub("[^A-Za-z0-9-]+", "_", server).strip("_") or "server"
            servers[server] = fit(part, server, 26, set(servers.values()))
        if (server, tool) not in names:
            start = f"mcp__{servers[server]}__"
            taken = {name.removeprefix(start) for name in names.values() if name.startswith(start)}
            part = re.sub("[^A-Za-z0-9_-]", "_", tool) or "tool"
            names[server, tool] = start + fit(part, tool, 60 - len(start), taken)
    return {"names": [names[place["server"], place["tool"]] for place in given["places"]]}

def oauth_pkce(given):
    if not re.fullmatch(r"[A-Za-z0-9\-._~]{43,128}", given["verifier"]):
        return {"error": "invalid_verifier"}
    digest = hashlib.sha256(given["verifier"].encode()).digest()
    return {"challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode()}

IN_WORDS = r"(?i)(?:try again|retry) (?:in|after)\s*(\d+(?:\.\d+)?)\s*(ms|s\b|sec)"

def retry_after(headers, now, text=""):
    for name, factor in {"retry-after-ms": 1, "retry-after": 1000}.items():
        if re.fullmatch(r"\d+(\.\d+)?", headers.get(name, "")):
            return float(headers[name]) * factor
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0, date.timestamp() * 1000 - now)
    except ValueError:
        words = re.search(IN_WORDS, text)
        return float(words[1]) * (1 if words[2].lower() == "ms" else 1000) if words else None

def backoff_timing(given):
    def longest(attempt):  # A float holds no 2 ** 1024.
        return min(given["max_ms"], given["base_ms"] * 2.0 ** min(attempt, 1023))
    if "headers" in given:
        return {"retry_after_ms": retry_after(**given)}
    if "attempts" in given:
        return {"caps_ms": [longest(attempt) for attempt in given["attempts"]]}
    reset = given.get("reset_after", len(given["random"]))
    attempts = [*range(reset), *range(len(given["random"]) - reset)]
    return {"delays_ms": [one * longest(at) for one, at in zip(given["random"], attempts)]}

RECORD = ("The conversation so far was too long and is replaced by this record. "
          "The whole of it is kept in the session's log.")

def utf16_length(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

def count_tokens(messages):
    bodies = [body for message in messages for body in message.get("results", [message])]
    total = 6 * len(bodies)
    for part in (part for body in bodies for part in body["content"]):
        is_call = part["type"] == "tool_call"
        text = part["name"] + part["arguments"] if is_call else part.get("text")
        total += 1600 if text is None else 6 * is_call + math.ceil(utf16_length(text) / 3.6)
    return total

def find_cut(messages, reserve_recent):
    """Where the turns that stay begin; a turn is an answer with the results of its calls."""
    if reserve_recent == 0:
        return max((at + 1 for at, one in enumerate(messages) if one["role"] != "user"), default=0)
    answers = [at for at, one in enumerate(messages) if one["role"] == "assistant"]
    at = answers[-reserve_recent] if len(answers) >= reserve_recent else 0
    return at - 1 if at > 0 and messages[at - 1]["role"] == "user" else at

def to_digest(messages):
    """Messages in short lines, without the results of calls; the newest 12,000 characters."""
    def short(text):
        flat = " ".join(text.split())
        return flat if utf16_length(flat) <= 300 else flat[:300] + "…"
    lines, kept, length = [], [], 0
    for message in messages:
        for one in message.get("results", []):
            lines.append(f"- result of {one['name']}{' (failed)' * one['is_error']}: [compacted]")
        if message["role"] == "user" and message["origin"] != "summary":
            text = "".join(part.get("text", "") for part in message["content"])
            lines.append(f"- {message['origin']}: {short(text)}")
        for part in message["content"] if message["role"] == "assistant" else []:
            if part["type"] == "tool_call":
                lines.append(f"- call {part['name']} {short(part['arguments'])}")
            if part["type"] == "text":
                lines.append(f"- answer: {short(part['text'])}")
    for line in reversed(lines):
        length += utf16_length(line) + 1
        kept += [line] * (length <= 12000)
    return "\n".join(reversed(kept))

def session_compaction(given):
    messages, cut = given["messages"], find_cut(given["messages"], given["reserve_recent"])
    asked = [at for at, one in enumerate(messages) if one.get("origin") == "person"]
    recent, requests = messages[cut:], [messages[at] for at in asked[-1:] if at < cut]
    summary = given["summary"] if "summary" in given else to_digest(messages[:cut])
    # A summary that is too long to save anything is left out.
    for text in (summary, "") if cut > 0 else ():
        parts = [RECORD, given["ledger"], f"# Summary\n{text}" if text else ""]
        record = {"type": "text", "text": "\n\n".join(filter(None, parts))}
        made = [{"role": "user", "origin": "summary", "content": [record]}, *requests, *recent]
        saved = count_tokens(messages) - count_tokens(made)
        if saved > 0:
            return {"compacted": {"messages": made, "compacted_count": cut, "tokens_saved": saved}}
    return {"compacted": None}

# permission-policy. Each condition of a rule finds NO, MAYBE or SURE for each thing in the call:
# an allow rule needs all of them to be SURE; for a deny or prompt rule one MAYBE is enough.
NO, MAYBE, SURE = range(3)
STRICTNESS = ("allow", "prompt", "deny")
GLOB_PART = re.compile(r"/\*\*\Z|\*\*/|\*\*|\*|\?|\[[^\]]+\]|\{[^{}]*\}|\\?.", re.DOTALL)
GLOB_SIGNS = {"/**": "(?:/.*)?", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
REF = re.compile("[a-z][a-z0-9-]{1,31}:(sha256:[0-9a-f]{64}|[a-z]{2,16}_[0-9a-z]+)")
PLAIN = re.compile(
    r"""[ \t]*[\w@%+:,./-]+(?:[ \t]+(?:[\w@%+=:,./-]+|'[^'\r\n\0]*'|"[^"$`\\!\r\n\0]*"))*[ \t]*""")
PATCHED = (r"(?m)^(?:--- (?:a/)?|\+{3} (?:b/)?|(?:rename|copy) (?:from|to) |\*{3} \w+ \w+: )"
           r"(?!/dev/null)(.+)")
# What a condition of this name looks at; any other is about the argument of that name.
KINDS = {"path": ("path", "tree", "foreign"), "command": ("command", "environment", "foreign")}

def to_regex(glob):
    def translate(found):
        part, inner = found[0], found[0][1:-1]
        if part[0] == "[" and inner:
            return f"[{re.sub('^!', '^', inner)}]"
        if part[0] == "{" and inner:
            return "(?:" + "|".join(map(to_regex, inner.split(","))) + ")"
        return GLOB_SIGNS.get(part) or re.escape(part[-1])
    return GLOB_PART.sub(translate, glob)

def matches(glob, text):
    return re.fullmatch(to_regex(glob), str(text), re.DOTALL) is not None

def path_verdict(root, uri, glob, is_tree):
    """An allow rule looks at the entry and its target; others at the name, too, above and below."""
    local = re.fullmatch("(?is)file://(?:localhost)?(/[^?#]*)", uri)
    if REF.fullmatch(uri):
        return NO
    if "\0" in uri or glob.startswith("~") or (not local and re.match(r"file:|[\w+.-]+://", uri)):
        return MAYBE
    given = os.path.join(root, urllib.parse.unquote(local[1]) if local else uri)
    named, real = Path(os.path.normpath(given)), Path(os.path.realpath(os.path.normpath(given)))
    entry = Path(os.path.realpath(named.parent), named.name)
    is_tree = is_tree and not real.is_file()
    exact = os.path.join(root, re.sub("/$", "/**", glob.removeprefix("./")))
    wide = exact if "/" in glob.rstrip("/") else os.path.join(root, "**", glob)
    below = ["", "/\1", "/\1/\1"] if is_tree else [""]
    if all(matches(exact, f"{one}{name}") for one in (entry, real) for name in below):
        return SURE
    if any(matches(wide, one) for path in (named, entry, real) for one in (path, *path.parents)):
        return MAYBE
    folder = Path(re.match(r"(?:/[^/*?\[\]{}\\]*(?=/|\Z))*", wide)[0])
    return MAYBE if is_tree and (folder.is_relative_to(real) or real.is_relative_to(folder)) else NO

def command_verdict(command, prefix):
    """An allow rule needs one plain command; others take all words of a script as one command."""
    is_text = isinstance(command, str)
    script = command if is_text else " ".join(command)
    words = shlex.split(script) if is_text and PLAIN.fullmatch(script) else command
    if words[: len(prefix)] == prefix:
        return SURE
    is_open = re.search(r"[$`{*?\[]|<<", script) or any(script.count(one) % 2 for one in "'\"")
    if is_open and (is_text or re.search(r" (-\w*[ce]|--command|--eval|eval) ", script)):
        return MAYBE
    wanted = list(prefix)
    for word in re.split(r"[\s;&|()<>]+", re.sub(r"['\"\\]", "", script)):
        name = word.rpartition("/")[2] if wanted == prefix and "/" not in prefix[0] else word
        if name in wanted[:1]:
            wanted.pop(0)
    return NO if wanted else MAYBE

def declared(holds, given, argument=None):
    """What the arguments of a call hold, as (argument, kind, value)."""
    for name, kind in holds.items():
        value, place = given.get(name, "." if kind == "tree" else None), argument or name
        if isinstance(kind, list):
            for item in value or []:
                yield from declared(kind[0], item, place)
        elif isinstance(value, list) and kind != "command":
            yield from ((place, kind or "value", one) for one in value if kind != "patch")
        elif kind == "patch" and value is not None:
            # When no file is named it may be any: a URL is a path that nobody can compare.
            yield from ((place, "path", one) for one in re.findall(PATCHED, value) or ["any://"])
        elif value not in (None, {}):
            yield place, kind or "value", value

def guessed(value):
    """Every text in the input of a foreign tool may be a path or a command."""
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from guessed(inner)
    elif isinstance(value, str):
        yield from ((None, kind, value) for kind in ("tree", "command", "foreign"))

def verdict(root, kind, value, wanted):
    if kind in ("path", "tree"):
        return path_verdict(root, value, wanted, kind == "tree")
    if kind == "command":
        return command_verdict(value, wanted)
    if kind == "value" and isinstance(value, (dict, list)):
        return MAYBE
    is_same = type(value) is type(wanted) and (value == wanted or matches(str(wanted), value))
    return SURE if kind == "value" and is_same else NO

def applies(root, rule, name, things):
    """A bare tool or server in the pattern stands for all in it."""
    pattern, is_allow = rule["tool_pattern"], rule["mode"] == "allow"
    below = "__*" if re.fullmatch("mcp__(?:(?!__).)+", pattern) else ".*"
    is_bare = not re.search(r"[.*?{}\[\]]", pattern)
    if not (matches(pattern, name) or (is_bare and matches(pattern + below, name))):
        return False
    for argument, wanted in rule.get("args", {}).items():
        is_list = isinstance(wanted[0] if argument == "command" else wanted, list)
        found = [max(verdict(root, kind, value, one) for one in (wanted if is_list else [wanted]))
                 for place, kind, value in things
                 if (kind in KINDS[argument] if argument in KINDS else place == argument)]
        if (min if is_allow else max)(found, default=NO) < (SURE if is_allow else MAYBE):
            return False
    return True

def permission_policy(given):
    with tempfile.TemporaryDirectory() as folder:
        root = os.path.realpath(folder)
        given = json.loads(json.dumps(given).replace("{root}", root))
        for path, content in given["files"].items():
            Path(root, path).parent.mkdir(parents=True, exist_ok=True)
            Path(root, path).write_text(content)
        for path, target in given["links"].items():
            Path(root, path).symlink_to(target)
        name, values, votes = given["call"]["name"], given["call"]["input"], []
        holds = given["actions"].get(name, dict.fromkeys(values))
        things = [*declared(holds, values), *(() if name in given["actions"] else guessed(values))]
        for tier in ("user", "project", "local", "environment"):
            rules = given["tiers"].get(tier, [])
            fitting = [at for at, rule in enumerate(rules) if applies(root, rule, name, things)]
            votes += [{"mode": rules[at]["mode"], "tier": tier, "rule": at} for at in fitting[:1]]
    default = {"mode": "prompt", "tier": "default", "rule": None}
    return max(votes, key=lambda one: STRICTNESS.index(one["mode"]), default=default)

# config-merge: preferences are overridden, safety narrows, what runs or allows needs trust.
CHOICES = {
    "input_mode": ("default", "emacs", "vim"), "mode": ("inspect", "apply", "verify", "ship"),
    "sandbox.mode": ("off", "workspace", "allowlist"),
    "sandbox.require": ("path_check", "unshare", "sandbox-exec", "bubblewrap")}
DEFAULTS = {
    "model": "claude-sonnet-4-20250514", "api_key": None, "oauth_credentials": None,
    "base_url": None, "custom_instructions": "", "input_mode": "default", "max_tokens": None,
    "hooks": [], "mcp_servers": {}, "env": {}, "language_servers": {}, "tools": None, "mode": None,
    "sandbox": {"mode": "workspace", "allowed_paths": [], "network": "on", "hide_home": False,
                "require": None, "memory_bytes": None, "max_processes": None},
    "net": {"allow": [], "deny": [], "private": False}, "vcs": {"filters": [], "hooks": False},
    "ui": {"headless": True},
    "audit": {"arguments": "hash", "keep_bytes": 512 * 1024 * 1024}, "permissions": []}
TOOLS = ("ws", "fs", "code", "proc", "test", "vcs", "net", "ui", "search", "job")
PERSONAL = ("api_key", "oauth_credentials", "base_url", "audit", "vcs", "net.allow")
NAMES = {"user": "settings", "project": ".hanzo/settings", "local": ".hanzo/settings.local"}
VARIABLES = {"model": "HANZO_MODEL", "api_key": "HANZO_API_KEY", "mode": "OCTANT_MODE"}
SKIPPED = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)

class Document:
    """JSON with comments and commas at the end; knows where its keys are."""
    def __init__(self, text):
        self.text, self.at, self.keys, self.unknown = text.removeprefix("\ufeff"), 0, {}, []
        self.settings = self.read(())
        for path in self.unknown:
            (self.settings if len(path) == 1 else self.settings[path[0]]).pop(path[-1])
        self.expect(self.take("") and self.at == len(self.text), "expected the end of the file")
        given = self.settings.get("permissions", [])
        self.rules = list(enumerate(given)) if isinstance(given, list) else [
            (name, {"tool_pattern": name, "mode": mode}) for name, mode in given.items()]
    def place(self, offset):
        lines = re.split("\r\n|\r|\n", self.text[:offset])
        return len(lines), len(lines[-1]) + 1
    def expect(self, condition, message, offset=None):
        if not condition:
            raise ValueError(message, *self.place(self.at if offset is None else offset))
    def take(self, sign):
        self.at = SKIPPED.match(self.text, self.at).end()
        self.expect(not self.text.startswith("/*", self.at), "this comment is not closed")
        is_there = self.text.startswith(sign, self.at)
        self.at += len(sign) * is_there
        return is_there
    def read(self, path):
        self.take("")
        start = self.at
        self.keys.setdefault(path, start)
        if self.take("{"):
            value = self.read_items(path, "}")
        elif self.take("["):
            value = list(self.read_items(path, "]").values())
        else:
            try:
                value, self.at = json.JSONDecoder().raw_decode(self.text, start)
            except json.JSONDecodeError:
                self.expect(False, "expected a value")
        self.check(path, value, start)
        return value
    def read_items(self, path, close):
        items, is_separated = {}, True
        while not self.take(close):
            self.expect(is_separated, f"expected , or {close}")
            start, key = self.at, len(items)
            if close == "}":
                key = self.read((None,))
                is_name = isinstance(key, str) and key not in items and self.take(":")
                self.expect(is_name, "expected a name with a colon, and none twice", start)
                self.keys[path + (key,)] = start
            items[key] = self.read(path + (key,))
            is_separated = self.take(",")
        return items
    def check(self, path, value, start):
        name, above, key = ".".join(map(str, path)), path[:-1], path[-1] if path else None
        known = DEFAULTS if len(path) == 1 else DEFAULTS.get(path[0]) if len(path) == 2 else None
        if known and key is not None and key not in known:
            alike = lambda one: difflib.SequenceMatcher(None, sorted(key), sorted(one)).ratio()
            nearest = max(known, key=alike)
            is_harmless = not above or above[0] in ("audit", "ui")
            if alike(nearest) < 0.7 and is_harmless and key != "__proto__":
                return self.unknown.append(path)
            self.expect(False, f"{name}: unknown key; did you mean {nearest}?", self.keys[path])
        choices = CHOICES.get(name, (value,))
        self.expect(value in choices, f"{name}: expected one of {json.dumps(choices)[1:-1]}", start)
        if above == ("mcp_servers",):
            self.expect("__" not in key, f"{name}: expected a name without '__'", start)
            is_one = not {"command", "url"} <= set(value)
            self.expect(is_one, f"{name}: either command or url", start)
        if above == ("permissions",) and isinstance(value, dict):
            self.expect("mode" in value, f"{name}.mode: is missing", start)
        is_lost = key == "args" and "__proto__" in value
        self.expect(not is_lost, "no argument can be called __proto__", start)
    def parts_for_trust(self):
        """All rules when one allows: without a deny before it, it would allow more."""
        is_allowing = any(rule["mode"] == "allow" for _, rule in self.rules)
        parts = {"permissions": self.rules if is_allowing else []}
        for key in ("hooks", "mcp_servers", "env", "language_servers"):
            value = self.settings.get(key, {})
            pairs = enumerate(value) if key == "hooks" else sorted(value.items())
            parts[key] = [(step, one) for step, one in pairs if one != {"disabled": True}]
        instructions = self.settings.get("custom_instructions")
        return {**parts, "custom_instructions": [(None, instructions)] if instructions else []}

class Merge:
    def __init__(self):
        self.settings, self.permissions, self.origins = copy.deepcopy(DEFAULTS), [], {}
        self.warnings, self.waiting, self.defined_by, self.disabled_by = [], [], {}, {}
    def add(self, tier, file, trusted=None):
        parts = file.parts_for_trust()
        waiting = [f"{tier}: {key}.{step}".removesuffix(".None")
                   for key, pairs in parts.items() for step, value in pairs
                   if key != "permissions" or value["mode"] == "allow"]
        is_known = trusted is not None and parts == Document(trusted).parts_for_trust()
        self.tier, self.file, self.is_project = tier, file, tier in ("project", "local")
        self.is_trusted = not self.is_project or is_known or not waiting
        self.waiting += [] if self.is_trusted else waiting
        if not self.is_trusted and parts["custom_instructions"]:
            self.warn(("custom_instructions",), "has no effect until you trust it")
        for path in file.unknown:
            self.warn(path, "is ignored: this version of Octant does not know it")
        before = copy.deepcopy(self.settings)
        for key, value in file.settings.items():
            if self.is_trusted or key not in parts or key in ("mcp_servers", "permissions"):
                self.put((key,), value, self.settings, before)
    def note(self, path, name=None):
        line = self.file.place(self.file.keys[path])[0]
        self.origins[name or ".".join(path)] = [self.tier, line if self.tier in NAMES else None]
    def warn(self, path, message):
        line = self.file.place(self.file.keys[path])[0]
        place = f"{NAMES[self.tier]}.json:{line}" if self.tier in NAMES else self.tier
        self.warnings.append(f"{place}: {'.'.join(path)} {message}")
    def put(self, path, value, holder, before):
        """Sets one value, or each inside an object of the defaults."""
        name, key, old = ".".join(path), path[-1], before.get(path[-1])
        if self.is_project and name in PERSONAL:
            self.warn(path, "is ignored: only the user tier may set it")
        elif name == "permissions":
            rules = [one for one in self.file.rules if self.is_trusted or one[1]["mode"] != "allow"]
            for index, (step, _) in enumerate(rules):
                self.note(("permissions", step), f"permissions.{self.tier}.{index}")
            if rules:
                self.permissions.append({"tier": self.tier, "rules": [rule for _, rule in rules]})
        elif path[0] == "mcp_servers" and len(path) == 2:
            self.put_server(path, value)
        elif isinstance(old, dict) and len(path) == 1:
            for inner, one in value.items():
                self.put(path + (inner,), one, holder[key], old)
        elif name == "hooks":
            holder[key] = old + [{"timeout_ms": 5000, **hook} for hook in value]
            for index in range(len(value)):
                self.note(("hooks", index), f"hooks.{len(old) + index}")
        else:
            if name == "sandbox.allowed_paths":
                value = [os.path.normpath(os.path.join("$ROOT", one)) for one in value]
            if name in ("net.allow", "net.deny"):
                value = list(dict.fromkeys(old + value))
            if name == "custom_instructions" and old:
                value = f"{old}\n\n{value}"
            narrows = self.is_project or (name == "mode" and self.tier == "environment")
            holder[key] = narrow(name, value, old, before) if narrows else value
            self.note(path)
            if holder[key] != value:
                self.warn(path, f"only narrows here; it is {holder[key]} now")
    def put_server(self, path, given):
        servers, name, disabled = self.settings[path[0]], path[1], given.get("disabled", False)
        defines = self.is_trusted and ("command" in given or "url" in given)
        if not defines and (name not in servers or not (disabled or self.is_trusted)):
            return
        if self.disabled_by.get(name) == "user" and self.is_project and not disabled:
            return self.warn(path, "stays disabled: the user tier says so")
        if defines:
            if self.defined_by.get(name) == "user" and self.is_project:
                self.warn(path, "replaces the server of that name in the user tier")
            command = given.get("command")
            program, *first = command if isinstance(command, list) else [command]
            started = {"args": first + given.get("args", []), "env": given.get("env", {})}
            hosted = {"url": given.get("url"), "headers": given.get("headers", {})}
            servers[name] = hosted if "url" in given else {"command": program, **started}
            self.defined_by[name] = self.tier
        servers[name]["disabled"] = disabled
        self.disabled_by[name] = disabled and (self.disabled_by.get(name) or self.tier)
        self.note(path)

def narrow(name, value, old, before):
    """What both the value and that of the tiers above allow."""
    if name == "tools":
        return [tool for tool in value if tool in (old or TOOLS)]
    if old in (None, value):
        return value
    if name == "sandbox.network":
        return old if value == "on" else value
    if name == "sandbox.allowed_paths":
        known = {"off": ["/"], "workspace": ["$ROOT", *old], "allowlist": old}[before["mode"]]
        inner = [one for one in value if any(Path(one).is_relative_to(two) for two in known)]
        outer = [one for one in known if any(Path(one).is_relative_to(two) for two in value)]
        return list(dict.fromkeys(inner + outer))
    if name in ("sandbox.mode", "sandbox.require"):
        return max(value, old, key=CHOICES[name].index)
    stricter = {"mode": lambda *_: "inspect", "net.private": min, "sandbox.hide_home": max,
                "sandbox.memory_bytes": min, "sandbox.max_processes": min}
    return stricter[name](value, old) if name in stricter else value

def config_merge(given):
    merge, trusted, variables = Merge(), given.get("trusted", {}), given.get("environment", {})
    for tier in [tier for tier in NAMES if tier in given]:
        text = given[tier] if trusted.get(tier) is True else trusted.get(tier)
        try:
            merge.add(tier, Document(given[tier]), text)
        except ValueError as error:
            return {"error": dict(zip(("tier", "message", "line", "column"), (tier, *error.args)))}
    environment = {key: variables[name] for key, name in VARIABLES.items() if variables.get(name)}
    environment["net"] = {"allow": re.findall(r"[^,\s]+", variables.get("OCTANT_NET_ALLOW", ""))}
    merge.add("environment", Document(json.dumps(environment)))
    sandbox = merge.settings["sandbox"]
    merge.settings["sandbox"] = {key: one for key, one in sandbox.items() if one is not None}
    shown = ("settings", "permissions", "origins", "warnings", "waiting")
    return {name: getattr(merge, name) for name in shown}

DOMAINS = {one.__name__.replace("_", "-"): one for one in (
    sse_frames, mcp_normalization, permission_policy, session_compaction, oauth_pkce, config_merge,
    backoff_timing)}

for line in sys.stdin:
    case = json.loads(line)
    output = DOMAINS[case["domain"]](case["input"])
    print(json.dumps({"id": case["id"], "output": output}), flush=True)
