import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createScriptedProvider,
  type ScriptedProvider,
  type ScriptedRequest,
} from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { accountAt } from "./scripted-account.ts";
import { openTmux, type Tmux } from "./tmux-terminal.ts";

/** A day with the agent in tmux: one session, whose scenarios follow each other. */
const IDLE = "ask, or / for commands";
const LONG_LINE = `const answer = ${Array.from({ length: 30 }, (_, i) => `part${i}`).join(" + ")};`;
const LONG_ANSWER = Array.from({ length: 120 }, (_, at) => `row ${at + 1} of the answer`);

let tmux: Tmux;
let provider: ScriptedProvider;
let project: FixtureProject;
const lastRequest = (): string => provider.requests.at(-1)?.raw ?? "";
const inProject = (path: string): string => join(project.root, path);

/** Sends what is typed and waits until the model was asked and the prompt is back. */
async function send() {
  const before = provider.requests.length;
  tmux.press("Enter");
  await vi.waitFor(() => expect(provider.requests.length).toBeGreaterThan(before), WAITING);
  await tmux.shows(IDLE);
}

const WAITING = { timeout: 30_000, interval: 50 };

/** Sends a line and waits for the prompt below the answer. */
async function say(line: string, answer: string | RegExp) {
  tmux.type(line);
  tmux.press("Enter");
  await tmux.has(answer);
  await tmux.shows(IDLE);
}

/** The model does what the message says. */
function script({ user, results, system }: ScriptedRequest) {
  const [, verb = "", rest = ""] = /^(\w+) ?([\s\S]*)$/.exec(user.trim()) ?? [];
  if (/have no tools/.test(system)) return { parts: [{ text: "1. Write the plan down." }] };
  if (results.length > 0 && verb !== "loop")
    return { parts: [{ text: `Result seen: ${results[0]?.text.slice(0, 60)}` }] };
  if (verb === "run") return { parts: [{ call: "proc", input: { action: "exec", command: rest } }] };
  if (verb === "create")
    return { parts: [{ call: "fs", input: { action: "write", uri: rest, content: "made\n" } }] };
  if (verb === "misfit") {
    const patch = [{ op: "replace", old: "not in the file", new: "x" }];
    const base_hash = `sha256:${createHash("sha256")
      .update(readFileSync(inProject("README.md")))
      .digest("hex")}`;
    return { parts: [{ call: "fs", input: { action: "apply_patch", uri: "README.md", base_hash, patch } }] };
  }
  if (verb === "loop") return { parts: [{ call: "fs", input: { action: "read", uri: "missing.txt" } }] };
  if (verb === "code") return { parts: [{ text: `Here:\n\n\`\`\`js\n${LONG_LINE}\n\`\`\`\n\nDone.` }] };
  if (verb === "long") return { parts: [{ text: LONG_ANSWER.join("\n\n") }] };
  if (verb === "slow") return { parts: [{ text: "one two three four five six seven" }], delay_ms: 400 };
  return { parts: [{ text: `Heard: ${user.trim().slice(0, 80)}` }] };
}

interface Scenario {
  readonly title: string;
  /** A thread in another agent's repository in which people complain about it or ask for it. */
  readonly against?: string;
  act(): Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  {
    title: "Home, End and Ctrl-J work in tmux",
    against: "opencode#344",
    async act() {
      tmux.type("bc");
      tmux.press("Home");
      tmux.type("a");
      tmux.press("End");
      tmux.type("d");
      tmux.press("C-j");
      tmux.type("second line");
      await tmux.shows(/› abcd\n {2}second line/);
      tmux.press("Enter");
      await tmux.has("Heard: abcd");
      expect(lastRequest()).toContain("abcd\\nsecond line");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "a file is found by any letters of its path, and its content goes along",
    against: "claude-code#2234",
    async act() {
      tmux.type("look at @utad");
      await tmux.shows("› @src/util/add.ts");
      tmux.press("Enter");
      await tmux.shows(/› look at @src\/util\/add\.ts$/m);
      await send();
      expect(lastRequest()).toContain("a + b");
    },
  },
  {
    title: "a name with spaces is quoted, and a folder is found",
    against: "claude-code#88149",
    async act() {
      tmux.type("see @notesday");
      await tmux.shows('› @"my notes/first day.md"');
      tmux.press("Tab");
      await send();
      expect(lastRequest()).toContain("Remember the milk");
      tmux.type('see @"my notes/');
      await tmux.shows(/^ *.*my notes\/first day\.md/m);
      tmux.press("C-c");
      await tmux.shows(IDLE);
      tmux.type("see @util");
      await tmux.shows("› @src/util/");
      tmux.press("C-c");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "a symbol is found by its name, and its lines go along",
    async act() {
      tmux.type("explain @parseDur");
      await tmux.shows("@src/duration.ts#parseDuration");
      // A key of data is no symbol.
      expect(tmux.screen().join("\n")).not.toContain("locked.json#");
      tmux.press("Tab");
      await send();
      expect(lastRequest()).toContain("60_000");
      expect(lastRequest()).not.toContain("unrelated text");
    },
  },
  {
    title: "!command runs without a question, and the model knows its output",
    against: "gemini-cli#8450",
    async act() {
      await say("!echo from-the-shell; ls package.json", /^\s*from-the-shell$/m);
      await say("what did I run?", "Heard: what did I run?");
      expect(lastRequest()).toContain("from-the-shell");
      expect(lastRequest()).toContain("echo from-the-shell; ls package.json");
    },
  },
  {
    title: "Ctrl-B moves a running command to the background",
    async act() {
      tmux.type("!echo begun; sleep 300");
      tmux.press("Enter");
      await tmux.shows(/!echo begun; sleep 300; Esc stops/);
      await tmux.shows("1 job running");
      tmux.press("C-b");
      await tmux.has("[it still runs; /jobs lists it, and /jobs stop ID ends it]");
      await tmux.shows(IDLE);
      await say("!pkill -f 'sleep 30[0]'; echo ended", /^\s*ended$/m);
    },
  },
  {
    title: "a slash command is named above its output, and runs at the first Enter",
    async act() {
      tmux.type("/mode");
      await tmux.shows("› /mode");
      tmux.press("Enter");
      await tmux.has(/^› \/mode$/m);
      await tmux.has(/^.*mode: /m);
      await tmux.shows(IDLE);
      tmux.type("/cos");
      await tmux.shows("› /cost");
      tmux.press("Enter");
      await tmux.has(/^› \/cost$/m);
      await tmux.has(/\d+ tokens/);
      await tmux.shows(IDLE);
    },
  },
  {
    title: "messages typed while it works are shown, and Up takes the last one back",
    against: "codex#12961",
    async act() {
      tmux.type("slow please");
      tmux.press("Enter");
      await tmux.shows("working; Esc stops");
      tmux.type("first later");
      tmux.press("Enter");
      tmux.type("second later");
      tmux.press("Enter");
      await tmux.shows(/queued for the next step.*\n {2}first later\n {2}second later/);
      tmux.press("Up");
      await tmux.shows(/› second later/);
      expect(tmux.screen().join("\n")).not.toMatch(/^ {2}second later$/m);
      tmux.press("C-u");
      await tmux.has("Heard: first later");
      await tmux.shows(IDLE);
      expect(lastRequest()).not.toContain("second later");
    },
  },
  {
    title: "/copy puts the answer or its code into the clipboard as it was, not as it was wrapped",
    against: "codex#27118",
    async act() {
      await say("code please", "Done.");
      await say("/copy code", "copied code block 1");
      expect(tmux.clipboard()).toBe(LONG_LINE);
      await say("/copy", "copied the last answer");
      expect(tmux.clipboard()).toContain(`\`\`\`js\n${LONG_LINE}\n\`\`\``);
    },
  },
  {
    title: "/context says what fills the window",
    against: "claude-code#11364",
    async act() {
      await say("/context", /tool definitions: \d+ tokens/);
      expect(Number(/tool definitions: (\d+) tokens/.exec(tmux.all().join("\n"))?.[1])).toBeLessThan(6_000);
    },
  },
  {
    title: "/plan leaves its result in the conversation, and knows what was said",
    against: "codex#9410",
    async act() {
      await say("/plan the next step", "1. Write the plan down.");
      const planned = provider.requests.at(-1);
      expect(planned?.system).not.toMatch(/Search and read/);
      expect(planned?.raw).toContain("code please");
      await say("go on", "Heard: go on");
      expect(lastRequest()).toContain("1. Write the plan down.");
    },
  },
  {
    title: "Ctrl-R finds a message that was sent, and sends it again",
    against: "gemini-cli#5391",
    async act() {
      tmux.press("C-r");
      tmux.type("did I");
      await tmux.shows("what did I run?");
      tmux.press("Enter");
      await tmux.shows(/› what did I run\?$/m);
      await send();
      expect(provider.requests.at(-1)?.user).toBe("what did I run?");
    },
  },
  {
    title: "a long answer is whole in the scrollback of the terminal, each line once",
    against: "codex#35335",
    async act() {
      await say("long please", "row 120 of the answer");
      const rows = tmux.all().flatMap((row) => /^row (\d+) of the answer$/.exec(row)?.[1] ?? []);
      expect(rows.map(Number)).toEqual(LONG_ANSWER.map((_, at) => at + 1));
    },
  },
  {
    title: "/model lists the models of the provider and switches",
    against: "opencode#6231",
    async act() {
      tmux.type("/model");
      tmux.press("Enter");
      await tmux.shows("Switch to which?");
      tmux.type("second");
      await tmux.shows(/› model-second/);
      tmux.press("Enter");
      await tmux.has("model: model-second");
      await tmux.shows(IDLE);
      await say("/model some-model", "model: some-model");
    },
  },
  {
    title: "a lower window keeps the status line",
    async act() {
      tmux.resize(100, 12);
      await tmux.shows(/some-model/);
      expect(tmux.screen().slice(0, 12).join("\n")).toContain("some-model");
      tmux.resize(100, 30);
      await tmux.shows(/some-model/);
    },
  },
  {
    title: "Ctrl-O searches up and down",
    async act() {
      tmux.press("C-o");
      await tmux.shows("q back");
      tmux.type("?abcd");
      tmux.press("Enter");
      await tmux.shows(/^Heard: abcd/m);
      tmux.type("n");
      await tmux.shows(/^› abcd/m);
      tmux.type("/go on");
      tmux.press("Enter");
      await tmux.shows("go on");
      tmux.type("N");
      tmux.type("q");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "/export writes to ~ and to an absolute path",
    against: "gemini-cli#22287",
    async act() {
      await say("/export ~/talk.md", "wrote");
      expect(readFileSync(join(project.env["HOME"] ?? "", "talk.md"), "utf8")).toContain("abcd");
      const path = inProject("talk.json");
      await say(`/export ${path}`, "talk.json");
      expect(existsSync(path)).toBe(true);
    },
  },
  {
    title: "a patch that cannot apply is refused without a question",
    against: "opencode#30863",
    async act() {
      await say("misfit", /✗ fs\.apply_patch README\.md/);
      expect(lastRequest()).toContain("`old` is not in the file; read it again");
      writeFileSync(inProject("there.txt"), "not read\n");
      await say("create there.txt", /✗ fs\.write there\.txt/);
      expect(tmux.all().join("\n")).not.toContain("[y] allow once");
    },
  },
  {
    title: "an allowed edit shows its diff without a question",
    async act() {
      await say("/permissions allow fs.*", "for this session");
      await say("create fresh.txt", "Result seen: created fresh.txt");
      await tmux.has(/^\s*\+\s*made$/m);
    },
  },
  {
    title: "a rewind keeps the rules of the session",
    against: "claude-code#29382",
    async act() {
      tmux.type("/rewind 1 conversation");
      tmux.press("Enter");
      await tmux.shows(/› create fresh\.txt\n\S*some-model/);
      tmux.press("C-c");
      await tmux.shows(IDLE);
      await say("create other.txt", "Result seen: created other.txt");
      expect(existsSync(inProject("other.txt"))).toBe(true);
    },
  },
  {
    title: "what was allowed for the session is taken back with one command",
    against: "claude-code#51563",
    async act() {
      await say("/permissions ask fs.*", "for this session");
      tmux.type("create unwanted.txt");
      tmux.press("Enter");
      await tmux.shows("[y] allow once");
      tmux.type("n");
      await tmux.shows(IDLE);
      expect(existsSync(inProject("unwanted.txt"))).toBe(false);
    },
  },
  {
    title: "/rewind lists the messages, and the mode that the person chose stays",
    async act() {
      await say("/mode edits", "mode: edits");
      await say("one more", "Heard: one more");
      tmux.type("/rewind");
      tmux.press("Enter");
      await tmux.shows("Go back to before which message?");
      tmux.press("c");
      await tmux.shows(/› one more\n\S*some-model.* edits /);
      tmux.press("C-c");
      await tmux.shows(IDLE);
      tmux.type("/clear");
      tmux.press("Enter");
      await tmux.shows(/^some-model · main · edits/m);
      await say("/mode ask", "mode: ask");
    },
  },
  {
    title: "a command in the background is listed by its text, and stopped",
    against: "claude-code#61568",
    async act() {
      tmux.type("!sleep 987; echo over");
      tmux.press("Enter");
      await tmux.shows(/!sleep 987; echo over; Esc stops[\s\S]*1 job running/);
      tmux.press("C-b");
      await tmux.has(/987[\s\S]*it still runs/);
      await tmux.shows(IDLE);
      await say("/jobs", /running {2}proc\.exec sleep 987; echo over/);
      const [, id = ""] = /(\w{6}) {2}running {2}proc\.exec sleep 987/.exec(tmux.all().join("\n")) ?? [];
      await say("/jobs stop nothing", "no job has the id 'nothing'");
      await say(`/jobs stop ${id}`, "stopped proc.exec sleep 987; echo over");
      await vi.waitFor(() => expect(tmux.screen().join("\n")).not.toContain("job running"), WAITING);
    },
  },
  {
    title: "lines that are pasted without marks are one message",
    against: "gemini-cli#3940",
    async act() {
      tmux.pasteUnmarked(Array.from({ length: 300 }, (_, i) => `unmarked line ${i}`).join("\n"));
      await tmux.shows(/\[paste #\d+, \d+ lines\]/);
      await send();
      expect(provider.requests.at(-1)?.user).toMatch(/^unmarked line 0\n[\s\S]*\nunmarked line 299$/);
    },
  },
  {
    title: "the session picker has title, date and folder, and searches",
    against: "gemini-cli#3248",
    async act() {
      tmux.type("/clear");
      tmux.press("Enter");
      // The new session has used nothing of its context.
      await tmux.shows(/^some-model · main/m);
      tmux.type("/resume");
      tmux.press("Enter");
      await tmux.shows("Resume which session?");
      await tmux.shows(/abcd.*\d{4}-\d\d-\d\d \d\d:\d\d/);
      tmux.type("nothing like it");
      await tmux.shows(/0 of \d/);
      tmux.press("C-u");
      tmux.type("abcd");
      tmux.press("Enter");
      await tmux.has("messages so far");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "a broken MCP server is told with what it printed",
    against: "claude-code#17950",
    async act() {
      expect(tmux.all().join("\n")).toMatch(/server broken cannot be used[\s\S]{0,100}no such config\s+here/);
    },
  },
  {
    title: "a long paste is one chip and one message, sent as it was",
    against: "claude-code#28282",
    async act() {
      const text = Array.from({ length: 40 }, (_, i) => `pasted line ${i}`).join("\n");
      tmux.type("about ");
      tmux.paste(text);
      await tmux.shows("[paste #1, 40 lines]");
      expect(tmux.screen().join("\n")).not.toContain("pasted line 20");
      await send();
      expect(lastRequest()).toContain(JSON.stringify(text).slice(1, -1));
    },
  },
  {
    title: "resizing keeps the lines of the shell, and every answer once",
    against: "codex#8642",
    async act() {
      await say("unique-marker-7", "Heard: unique-marker-7");
      for (const [columns, rows] of [
        [60, 20],
        [120, 40],
        [100, 30],
      ] as const) {
        tmux.resize(columns, rows);
        await tmux.shows(/some-model/);
      }
      const all = tmux.all();
      expect(all.filter((row) => row === "a line of the shell")).toHaveLength(1);
      expect(all.filter((row) => row.startsWith("Heard: unique-marker-7"))).toHaveLength(1);
    },
  },
  {
    title: "Shift-Tab reaches plan mode with its name in the status line, where an edit is refused",
    against: "codex#2101",
    async act() {
      await say("/mode ask", "mode: ask");
      tmux.press("BTab", "BTab", "BTab");
      await tmux.shows("· plan ·");
      await say("create planned.txt", /› create planned\.txt\n[\s\S]*Result seen: PERMISSION_DENIED/);
      expect(existsSync(inProject("planned.txt"))).toBe(false);
      tmux.press("BTab");
      await tmux.shows("· ask ·");
    },
  },
  {
    title: "requests only grow at their end, also across modes",
    against: "claude-code#92033",
    async act() {
      const prefix = ({ raw }: { raw: string }) => raw.slice(0, raw.indexOf('"messages":'));
      const own = provider.requests.filter(({ system }) => !/sub-agent|have no tools/.test(system));
      const [one, other] = [own.at(-1), own.at(-6)];
      expect(one && other && prefix(one)).toBe(other && prefix(other));
    },
  },
  {
    title: "a question shows the whole command, and always allows no more than its parts",
    against: "opencode#40158",
    async act() {
      tmux.type("run mkdir -p made && touch made/x");
      tmux.press("Enter");
      await tmux.shows("[y] allow once");
      await tmux.shows("mkdir -p made && touch made/x");
      tmux.type("a");
      tmux.press("Enter");
      await vi.waitFor(() => expect(existsSync(inProject("made/x"))).toBe(true), WAITING);
      await tmux.shows(IDLE);
      tmux.type("run touch elsewhere.txt");
      tmux.press("Enter");
      await tmux.shows("[y] allow once");
      tmux.type("n");
      await tmux.shows(IDLE);
      expect(existsSync(inProject("elsewhere.txt"))).toBe(false);
    },
  },
  {
    title: "the file with the person's own rules is not offered to git",
    async act() {
      expect(existsSync(inProject(".hanzo/settings.local.json"))).toBe(true);
      await say("!git status --short; echo listed", /^\s*listed$/m);
      const status = execFileSync("git", ["status", "--short"], { cwd: project.root, encoding: "utf8" });
      expect(status).not.toContain("settings.local.json");
    },
  },
  {
    title: "/undo takes back what a command of the agent did",
    against: "codex#9203",
    async act() {
      tmux.type("run echo new > by-command.txt");
      tmux.press("Enter");
      await tmux.shows("[y] allow once");
      tmux.type("y");
      await vi.waitFor(() => expect(existsSync(inProject("by-command.txt"))).toBe(true), WAITING);
      await tmux.shows(IDLE);
      await say("/undo", "removed by-command.txt");
      expect(existsSync(inProject("by-command.txt"))).toBe(false);
    },
  },
  {
    title: "/solve, /code and /review know the conversation, and leave their reports in it",
    against: "opencode#2645",
    async act() {
      for (const command of ["/solve why it fails", "/code the mending", "/review the change"]) {
        const before = provider.requests.length;
        const [, name = ""] = /^\/(\w+)/.exec(command) ?? [];
        tmux.type(command);
        await send();
        expect(provider.requests[before]?.raw, name).toContain("unique-marker-7");
        await say(`after ${name}`, `Heard: after ${name}`);
        expect(lastRequest(), name).toContain(`The person ran ${command}. The report of the sub-agent`);
      }
    },
  },
  {
    title: "/compact shortens the conversation, and the instructions stay as they were",
    against: "claude-code#68636",
    async act() {
      const before = provider.requests.findLast(
        ({ system }) => !/sub-agent|have no tools/.test(system),
      )?.system;
      expect(before).toContain("Always mention the milk.");
      await say("/compact", /compacted/);
      await say("after the compaction", "Heard: after the compaction");
      expect(provider.requests.at(-1)?.system).toBe(before);
      expect(lastRequest()).not.toContain("Heard: unique-marker-7");
    },
  },
  {
    title: "the same failing call is not repeated for ever",
    against: "claude-code#67812",
    async act() {
      const before = provider.requests.length;
      await say("loop please", /repeat|same call/);
      expect(provider.requests.length - before).toBeLessThan(12);
    },
  },
  {
    title: "no line names a command that the person cannot run",
    async act() {
      const all = tmux.all().join("\n");
      expect(all).not.toMatch(/npx octant/);
      // Without an octant on the PATH the command is the one of npx.
      expect(all).not.toMatch(/(?<!@)octant mcp test/);
    },
  },
  {
    title: "unreadable rules stop the start, and the message names file and line",
    against: "claude-code#12468",
    async act() {
      tmux.type("/quit");
      tmux.press("Enter");
      await tmux.has(/--resume \S+/);
      writeFileSync(
        inProject(".hanzo/settings.json"),
        '{\n  "permissions": [{ "tool_pattern": "Bash(rm*", "mode": "deny" }]\n}\n',
      );
      tmux.type("clear; $OCTANT; echo ended with $?");
      tmux.press("Enter");
      await tmux.has(/^ended with [1-9]/m);
      expect(tmux.screen().join("\n")).toMatch(/\.hanzo\/settings\.json:2:\d+/);
    },
  },
];

const NO_TMUX = inject("missing").includes("tmux");

beforeAll(async () => {
  if (NO_TMUX) return;
  provider = await createScriptedProvider(script, { models: ["some-model", "model-first", "model-second"] });
  project = createFixtureProject();
  const files = {
    "my notes/first day.md": "Remember the milk\n",
    "locked.json": '{ "parseDurations": { "version": 1 } }\n',
    "src/duration.ts": `${"// unrelated text\n".repeat(10)}export function parseDuration(text: string) {\n  return Number(text) * 60_000;\n}\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    execFileSync("mkdir", ["-p", join(inProject(path), "..")]);
    writeFileSync(inProject(path), text);
  }
  const settings = {
    custom_instructions: "Always mention the milk.",
    mcp_servers: { broken: { command: "sh", args: ["-c", "echo no such config here >&2; exit 3"] } },
  };
  const home = join(project.env["HOME"] ?? "", ".config/hanzo");
  execFileSync("mkdir", ["-p", home]);
  writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
  tmux = openTmux(project.root, { ...project.env, ...accountAt(provider) });
  tmux.type("echo a line of the shell");
  tmux.press("Enter");
  tmux.type("$OCTANT --model some-model");
  tmux.press("Enter");
  await tmux.shows(IDLE);
});

afterAll(async () => {
  if (NO_TMUX) return;
  tmux[Symbol.dispose]();
  await provider[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

test.skipIf(NO_TMUX).for(SCENARIOS)("$title", { timeout: 60_000 }, ({ act }) => act());
