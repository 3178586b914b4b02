"""A second implementation of the seven domains of HIP-0301 section 18, in plain Python.

Reads one JSON object a line, {"id", "domain", "input"}, and answers each with one line: {"id", "output"}, or
{"id", "unsupported"} for a case of the extended level that it does not claim. `octant vectors --command 'python3
vectors/python/implementation.py'` tests it. It shares no code with Octant: the vectors are all they have in common.
"""

import base64
import email.utils
import hashlib
import json
import math
import re
import sys

class Unsupported(Exception):
    """A case beyond the core level."""

# sse-frames

class SseFrameBuffer:
    """Feeds on text, gives back the events that it completes."""

    def __init__(self):
        self.text = ""
        self.started = False
        self.fields = {}

    def feed(self, chunk):
        self.text += chunk
        if not self.started and self.text:
            self.started = True
            self.text = self.text.removeprefix("\ufeff")
        frames = []
        while True:
            # A CR at the very end may be the first half of a CRLF: it waits for what follows.
            end = re.search("\r\n|\n|\r(?!\\Z)", self.text)
            if not end:
                return frames
            line, self.text = self.text[: end.start()], self.text[end.end() :]
            frames += self.take(line)

    def end(self):
        rest, self.text = self.text.removesuffix("\r"), ""
        return self.take(rest) + self.take("")

    def take(self, line):
        if line == "":
            fields, self.fields = self.fields, {}
            if "data" not in fields:
                return []
            return [{name: fields.get(name) for name in ("event", "data", "id", "retry")}]
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self.fields["event"] = value
        elif name == "data":
            before = self.fields.get("data")
            self.fields["data"] = value if before is None else before + "\n" + value
        elif name == "id" and "\0" not in value:
            self.fields["id"] = value
        elif name == "retry" and re.fullmatch("[0-9]+", value):
            self.fields["retry"] = int(value)
        return []

def sse_frames(given):
    buffer = SseFrameBuffer()
    frames = [frame for chunk in given["chunks"] for frame in buffer.feed(chunk)]
    return {"frames": frames + buffer.end()}

# mcp-normalization

def fit(part, original, room, taken):
    """The part when it fits and is free; otherwise its start and a hash of the original."""
    result, salt = part, ""
    while len(result) > room or result in taken:
        digest = hashlib.sha256((original + salt).encode()).hexdigest()[:8]
        result = part[: room - 9].rstrip("_") + "_" + digest
        salt += "#"
    return result

def mcp_normalization(given):
    servers, names, result = {}, {}, []
    for place in given["places"]:
        server, tool = place["server"], place["tool"]
        if server not in servers:
            part = re.sub("_+", "_", re.sub("[^A-Za-z0-9_-]", "_", server)).strip("_") or "server"
            servers[server] = fit(part, server, 26, set(servers.values()))
        if (server, tool) not in names:
            start = f"mcp__{servers[server]}__"
            taken = {name.removeprefix(start) for name in names.values() if name.startswith(start)}
            part = re.sub("[^A-Za-z0-9_-]", "_", tool) or "tool"
            names[server, tool] = start + fit(part, tool, 60 - len(start), taken)
        result.append(names[server, tool])
    return {"names": result}

# permission-policy

TIERS = ("user", "project", "local", "environment")
STRICTNESS = {"allow": 0, "prompt": 1, "deny": 2}

def glob_to_regex(pattern):
    """*, ?, [classes] and {braces}; a name has no folders, so a star goes over everything."""
    out, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            out += ".*"
        elif char == "?":
            out += "."
        elif char == "[" and "]" in pattern[at + 1 :]:
            end = pattern.index("]", at + 1)
            out += "[" + pattern[at + 1 : end].replace("!", "^", 1).replace("\\", "\\\\") + "]"
            at = end
        elif char == "{" and "}" in pattern[at:]:
            end = pattern.index("}", at)
            out += "(?:" + "|".join(glob_to_regex(part) for part in pattern[at + 1 : end].split(",")) + ")"
            at = end
        else:
            out += re.escape(char)
        at += 1
    return out

def is_about(pattern, name):
    """A bare tool or server stands for all in it."""
    candidates = [pattern]
    if re.fullmatch("[a-z_]+", pattern) and not pattern.startswith("mcp__"):
        candidates.append(pattern + ".*")
    if re.fullmatch("mcp__(?:(?!__).)+", pattern):
        candidates.append(pattern + "__*")
    return any(re.fullmatch(glob_to_regex(one), name, re.DOTALL) for one in candidates)

def fits(wanted, value, mode):
    """One condition on a plain argument. A value that nobody can compare is held back, and never allowed."""
    if isinstance(value, (dict, list)):
        return mode != "allow"
    if value is None:
        return False
    if isinstance(wanted, str) and isinstance(value, str):
        return re.fullmatch(glob_to_regex(wanted), value, re.DOTALL) is not None
    return type(wanted) is type(value) and wanted == value

def permission_policy(given):
    call, held = given["call"], given["actions"].get(given["call"]["name"])
    votes = []
    for tier in TIERS:
        for index, rule in enumerate(given["tiers"].get(tier, [])):
            if not is_about(rule["tool_pattern"], call["name"]):
                continue
            args = rule.get("args", {})
            # Paths, commands, hosts and the arguments of foreign tools are the extended level.
            if any(held is None or held.get(name, "path") is not None for name in args):
                raise Unsupported("conditions on paths, commands and hosts")
            if all(fits(wanted, call["input"].get(name), rule["mode"]) for name, wanted in args.items()):
                votes.append({"mode": rule["mode"], "tier": tier, "rule": index})
                break
    if not votes:
        return {"mode": "prompt", "tier": "default", "rule": None}
    return max(votes, key=lambda vote: STRICTNESS[vote["mode"]])

# session-compaction

RECORD = (
    "The conversation so far was too long and is replaced by this record. "
    "The whole of it is kept in the session's log."
)

def utf16_length(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2

def estimate_tokens(text):
    return math.ceil(utf16_length(text) / 3.6)

def parts_tokens(parts):
    return sum(estimate_tokens(part["text"]) if part["type"] == "text" else 1600 for part in parts)

def message_tokens(message):
    if message["role"] == "user":
        return 6 + parts_tokens(message["content"])
    if message["role"] == "tool":
        return sum(6 + parts_tokens(result["content"]) for result in message["results"])
    total = 6
    for part in message["content"]:
        if part["type"] == "tool_call":
            total += 6 + estimate_tokens(part["name"] + part["arguments"])
        else:
            total += estimate_tokens(part["text"])
    return total

def find_cut(messages, reserve_recent):
    """Where the turns that stay begin; a turn is an answer with the results of its calls."""
    if reserve_recent == 0:
        return max((at + 1 for at, one in enumerate(messages) if one["role"] != "user"), default=0)
    answers = [at for at, one in enumerate(messages) if one["role"] == "assistant"]
    if len(answers) < reserve_recent:
        return 0
    at = answers[-reserve_recent]
    return at - 1 if at > 0 and messages[at - 1]["role"] == "user" else at

def to_digest(messages):
    """Each message as a line, without the results of calls; the newest 12,000 characters."""
    def line(text):
        flat = re.sub(r"\s+", " ", text).strip()
        return flat if utf16_length(flat) <= 300 else flat[:300] + "…"

    def lines(message):
        if message["role"] == "tool":
            return [f"- result of {one['name']}{' (failed)' * one['is_error']}: [compacted]" for one in message["results"]]
        if message["role"] == "user":
            text = "".join(part["text"] for part in message["content"] if part["type"] == "text")
            return [] if message["origin"] == "summary" else [f"- {message['origin']}: {line(text)}"]
        calls = {"tool_call": lambda one: f"- call {one['name']} {line(one['arguments'])}",
                 "text": lambda one: f"- answer: {line(one['text'])}"}
        return [calls[part["type"]](part) for part in message["content"] if part["type"] in calls]

    kept, length = [], 0
    for one in reversed([one for message in messages for one in lines(message)]):
        length += utf16_length(one) + 1
        kept += [one] * (length <= 12000)
    return "\n".join(reversed(kept))

def session_compaction(given):
    messages, ledger = given["messages"], given["ledger"]
    cut = find_cut(messages, given["reserve_recent"])
    if cut == 0:
        return {"compacted": None}

    is_request = lambda message: message["role"] == "user" and message["origin"] == "person"
    recent = messages[cut:]
    summary = given["summary"] if "summary" in given else to_digest(messages[:cut])
    requests = [] if any(map(is_request, recent)) else [one for one in messages[:cut] if is_request(one)][-1:]

    def build(text):
        parts = [RECORD, ledger] + ([f"# Summary\n{text}"] if text else [])
        record = "\n\n".join(part for part in parts if part)
        head = {"role": "user", "origin": "summary", "content": [{"type": "text", "text": record}]}
        made = [head] + requests + recent
        saved = sum(map(message_tokens, messages)) - sum(map(message_tokens, made))
        return {"messages": made, "compacted_count": cut, "tokens_saved": saved}

    for text in (summary, ""):
        result = build(text)
        if result["tokens_saved"] > 0:
            return {"compacted": result}
    return {"compacted": None}

# oauth-pkce

def oauth_pkce(given):
    verifier = given["verifier"]
    if not re.fullmatch(r"[A-Za-z0-9\-._~]{43,128}", verifier):
        return {"error": "invalid_verifier"}
    digest = hashlib.sha256(verifier.encode()).digest()
    return {"challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode()}

# config-merge

DEFAULTS = {
    "model": "claude-sonnet-4-20250514",
    "api_key": None, "oauth_credentials": None, "base_url": None,
    "custom_instructions": "", "input_mode": "default", "max_tokens": None,
    "sandbox": {"mode": "workspace", "allowed_paths": [], "network": "on", "hide_home": False},
    "tools": None, "mode": None,
}
PERSONAL = ("api_key", "oauth_credentials", "base_url")
CORE_KEYS = {"model", "max_tokens", "input_mode", "custom_instructions", "permissions", "hooks", "mcp_servers", "env", *PERSONAL}
FILES = {"user": "settings.json", "project": ".hanzo/settings.json", "local": ".hanzo/settings.local.json"}

class Jsonc:
    """JSON with comments and commas at the end; knows on which line each value's key stands."""

    SKIP = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)

    def __init__(self, text):
        self.text = text.removeprefix("\ufeff")
        self.at = 0
        self.lines = {}
        self.value = self.read(())
        self.skip()
        if self.at < len(self.text):
            raise Unsupported("errors in settings")

    def skip(self):
        self.at = self.SKIP.match(self.text, self.at).end()

    def take(self, char):
        self.skip()
        found = self.text.startswith(char, self.at)
        self.at += found
        return found

    def read(self, path):
        self.skip()
        self.lines[path] = self.text.count("\n", 0, self.at) + 1
        if self.take("{"):
            return self.read_object(path)
        if self.take("["):
            return self.read_array(path)
        try:
            value, self.at = json.JSONDecoder().raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            raise Unsupported("errors in settings") from error
        return value

    def read_object(self, path):
        result = {}
        while not self.take("}"):
            key = self.read(path + (None,))
            if not isinstance(key, str) or key in result or not self.take(":"):
                raise Unsupported("errors in settings")
            line = self.lines[path + (None,)]
            result[key] = self.read(path + (key,))
            self.lines[path + (key,)] = line
            if not self.take(",") and not self.text.startswith("}", self.at):
                raise Unsupported("errors in settings")
        return result

    def read_array(self, path):
        result = []
        while not self.take("]"):
            result.append(self.read(path + (len(result),)))
            if not self.take(",") and not self.text.startswith("]", self.at):
                raise Unsupported("errors in settings")
        return result

class Merge:
    """Preferences are overridden; whatever runs or allows something counts from a trusted tier only."""

    def __init__(self):
        self.settings = dict(DEFAULTS, hooks=[], mcp_servers={}, env={})
        self.permissions, self.warnings, self.waiting = [], [], []
        self.origins, self.defined_by, self.disabled_by = {}, {}, {}

    def add(self, tier, parsed, trusted):
        for key, value in parsed.value.items():
            if key not in CORE_KEYS:
                raise Unsupported("settings that narrow")
            merge = getattr(self, "add_" + key, None)
            if merge:
                merge(tier, value, parsed, trusted)
            elif key in PERSONAL and tier != "user":
                self.warn(tier, parsed, key, "is ignored: only the user tier may set it")
            else:
                self.settings[key] = value
                self.note(key, tier, parsed, (key,))

    def note(self, name, tier, parsed, path):
        self.origins[name] = [tier, parsed.lines[path]]

    def warn(self, tier, parsed, key, message):
        line = parsed.lines[tuple(key.split("."))]
        self.warnings.append(f"{FILES[tier]}:{line}: {key} {message}")

    def add_custom_instructions(self, tier, value, parsed, trusted):
        before = self.settings["custom_instructions"]
        self.settings["custom_instructions"] = f"{before}\n\n{value}" if before else value

    def add_permissions(self, tier, value, parsed, trusted):
        is_map = isinstance(value, dict)
        rules = [{"tool_pattern": name, "mode": mode} for name, mode in value.items()] if is_map else value
        kept = []
        if any("mode" not in rule or "args" in rule for rule in rules):
            raise Unsupported("errors in settings")
        for index, rule in enumerate(rules):
            place = rule["tool_pattern"] if is_map else index
            if rule["mode"] == "allow" and not trusted:
                self.waiting.append(f"{tier}: permissions.{place}")
                continue
            self.note(f"permissions.{tier}.{len(kept)}", tier, parsed, ("permissions", place))
            kept.append(rule)
        if kept:
            self.permissions.append({"tier": tier, "rules": kept})

    def add_hooks(self, tier, value, parsed, trusted):
        for index, hook in enumerate(value):
            if not trusted:
                self.waiting.append(f"{tier}: hooks.{index}")
                continue
            self.note(f"hooks.{len(self.settings['hooks'])}", tier, parsed, ("hooks", index))
            self.settings["hooks"].append({"timeout_ms": 5000, **hook})

    def add_env(self, tier, value, parsed, trusted):
        for name, text in value.items():
            if not trusted:
                self.waiting.append(f"{tier}: env.{name}")
                continue
            self.settings["env"][name] = text
            self.note(f"env.{name}", tier, parsed, ("env", name))

    def add_mcp_servers(self, tier, value, parsed, trusted):
        for name, given in value.items():
            if "__" in name or {"command", "url"} <= set(given):
                raise Unsupported("errors in settings")
            self.add_server(tier, name, given, parsed, trusted)

    def add_server(self, tier, name, given, parsed, trusted):
        servers, key = self.settings["mcp_servers"], f"mcp_servers.{name}"
        disabled = given.get("disabled", False)
        defines = "command" in given or "url" in given
        if disabled and not (defines and trusted):
            if name in servers:
                servers[name] = dict(servers[name], disabled=True)
                self.disabled_by.setdefault(name, tier)
            return
        if not trusted:
            return self.waiting.append(f"{tier}: {key}")
        if self.disabled_by.get(name) == "user" and tier != "user" and not disabled:
            return self.warn(tier, parsed, key, "stays disabled: the user tier says so")
        if not defines:
            if name in servers:
                servers[name] = dict(servers[name], disabled=disabled)
                self.disabled_by.pop(name, None)
            return
        if self.defined_by.get(name) == "user" and tier != "user":
            self.warn(tier, parsed, key, "replaces the server of that name in the user tier")
        servers[name] = to_server(given)
        self.defined_by[name] = tier
        self.disabled_by.pop(name, None)
        if disabled:
            self.disabled_by[name] = tier
        self.note(key, tier, parsed, ("mcp_servers", name))

def to_server(given):
    disabled = given.get("disabled", False)
    if "url" in given:
        return {"url": given["url"], "headers": given.get("headers", {}), "disabled": disabled}
    command = given["command"] if isinstance(given["command"], list) else [given["command"]]
    args = command[1:] + given.get("args", [])
    return {"command": command[0], "args": args, "env": given.get("env", {}), "disabled": disabled}

def config_merge(given):
    merge, trust = Merge(), given.get("trusted", {})
    if any(value is not True for value in trust.values()):
        raise Unsupported("trust in another content")
    environment = given.get("environment", {})
    if set(environment) - {"HANZO_MODEL", "HANZO_API_KEY", "HANZO_BASE_URL"}:
        raise Unsupported("settings that narrow")
    for tier in ("user", "project", "local"):
        if tier in given:
            merge.add(tier, Jsonc(given[tier]), tier == "user" or tier in trust)
    for key, variable in {"model": "HANZO_MODEL", "api_key": "HANZO_API_KEY"}.items():
        if environment.get(variable):
            merge.settings[key] = environment[variable]
            merge.origins[key] = ["environment", None]
    names = ("settings", "permissions", "origins", "warnings", "waiting")
    return {name: getattr(merge, name) for name in names}

# backoff-timing

IN_WORDS = re.compile(r"(?:try again|retry) (?:in|after)\s*(\d+(?:\.\d+)?)\s*(ms|s\b|sec)", re.IGNORECASE)

def cap(attempt, given):
    # 2 ** 1024 does not fit a float; long before it every delay is the maximum.
    return min(given["max_ms"], given["base_ms"] * 2.0 ** min(attempt, 1023))

def to_number(text):
    return float(text) if re.fullmatch(r"\d+(\.\d+)?", text or "") else None

def retry_after(given):
    headers = given["headers"]
    if to_number(headers.get("retry-after-ms")) is not None:
        return to_number(headers["retry-after-ms"])
    after = headers.get("retry-after")
    if to_number(after) is not None:
        return to_number(after) * 1000
    if after:
        try:
            date = email.utils.parsedate_to_datetime(after)
            return max(0, date.timestamp() * 1000 - given["now"])
        except ValueError:
            pass
    words = IN_WORDS.search(given.get("text", ""))
    return float(words[1]) * (1 if words[2].lower() == "ms" else 1000) if words else None

def backoff_timing(given):
    if "random" in given:
        delays, attempt = [], 0
        for index, number in enumerate(given["random"]):
            attempt = 0 if index == given.get("reset_after") else attempt
            delays.append(number * cap(attempt, given))
            attempt += 1
        return {"delays_ms": delays}
    if "attempts" in given:
        return {"caps_ms": [cap(attempt, given) for attempt in given["attempts"]]}
    return {"retry_after_ms": retry_after(given)}

FUNCTIONS = (sse_frames, mcp_normalization, permission_policy, session_compaction, oauth_pkce, config_merge, backoff_timing)
DOMAINS = {function.__name__.replace("_", "-"): function for function in FUNCTIONS}

def answer(line):
    case = json.loads(line)
    try:
        return {"id": case["id"], "output": DOMAINS[case["domain"]](case["input"])}
    except Unsupported as reason:
        return {"id": case["id"], "unsupported": str(reason)}

if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)
