import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProcesses } from "@octant/app";
import {
  createScriptedProvider,
  type ScriptedProvider,
  type ScriptedRequest,
} from "@octant/scripted-provider";
import { afterAll, beforeAll, expect, inject, test, vi } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";
import { openTmux, type Tmux } from "./tmux-terminal.ts";

/** Work that is left to sub-agents, taken back, cut off and resumed, in tmux. The scenarios follow each other. */
const IDLE = "ask, or / for commands";
const WAITING = { timeout: 30_000, interval: 50 };
/** What two reads of it leave in the conversation. */
const LARGE = Array.from({ length: 900 }, (_, at) => `line ${at} of the large file`).join("\n");

let tmux: Tmux;
let provider: ScriptedProvider;
let project: FixtureProject;
const inProject = (path: string): string => join(project.root, path);
const git = (...args: string[]) => execFileSync("git", args, { cwd: project.root, encoding: "utf8" });

/** The process of the chat in the terminal. */
async function pidOfAgent(): Promise<number> {
  const [agent] = await findProcesses(project.env);
  using found = agent ?? expect.fail("no Octant process is running");
  return found.pid;
}

/** Waits until a file of the project has exactly this text. */
const holds = (path: string, text: string) =>
  vi.waitFor(() => expect(readFileSync(inProject(path), "utf8")).toBe(text), WAITING);

/** Commands that still run, by the number of seconds that they sleep. */
const sleepers = (seconds: string): string =>
  spawnSync("pgrep", ["-f", `^sleep ${seconds}`], { encoding: "utf8" }).stdout.trim();

/** Sends a line and waits for its answer and the prompt below it. */
async function say(line: string, answer: string | RegExp) {
  tmux.type(line);
  tmux.press("Enter");
  await tmux.has(answer);
  await tmux.shows(IDLE);
}

/** The model does what the message says. */
function script({ user, results }: ScriptedRequest) {
  const [, verb = "", rest = ""] = /^(\w+) ?([^\n]*)/.exec(user.trim()) ?? [];
  const call = (name: string, input: object) => ({ call: name, input });
  if (results.length > 0) return { parts: [{ text: `Done with ${verb}.` }] };
  if (verb === "three")
    return {
      parts: [
        call("Bash", { command: "echo by-the-helper; ls package.json" }),
        call("Write", { file_path: rest, content: "one\ntwo\n" }),
      ],
    };
  if (verb === "edit")
    return {
      parts: [
        call("Edit", { file_path: "src/main.ts", old_string: "answer = 42", new_string: "answer = 43" }),
      ],
    };
  if (verb === "retitle")
    return { parts: [call("Edit", { file_path: rest, old_string: "# Demo\n", new_string: "# Retitled\n" })] };
  if (verb === "show") return { parts: [call("Read", { file_path: rest.split(" ")[0] })] };
  if (verb === "grep") return { parts: [call("Grep", { pattern: rest, path: "src" })] };
  if (verb === "run") return { parts: [call("Bash", { command: rest })] };
  if (verb === "read")
    return { parts: [1, 2].map((id) => ({ ...call("Read", { file_path: "large.txt" }), id: `read_${id}` })) };
  if (verb === "busy")
    return { fault: { status: 529, body: { error: { type: "overloaded_error", message: "Busy" } } } };
  return { parts: [{ text: `Heard: ${user.trim().slice(0, 60)}` }] };
}

const start = (flags = "") => {
  tmux.type(`$OCTANT --model claude-sonnet-5-5 ${flags}`);
  tmux.press("Enter");
};

interface Scenario {
  readonly title: string;
  /** A thread in another agent's repository in which people complain about it or ask for it. */
  readonly against?: string;
  act(): Promise<void>;
}

const SCENARIOS: readonly Scenario[] = [
  {
    title: "/code shows the calls of its sub-agent with output and diff, and Ctrl-O has them whole",
    against: "claude-code#5974",
    async act() {
      await say("/mode sandbox", "mode: sandbox");
      await say("/code three helper.txt", "Done with three.");
      await tmux.has(/^✓ code: proc\.exec echo by-the-helper; ls package\.json/m);
      await tmux.has(/^ {2}by-the-helper$/m);
      await tmux.has(/^✓ code: fs\.write helper\.txt/m);
      await tmux.has(/^ {2}\+one$/m);
      tmux.press("C-o");
      await tmux.shows("q back");
      tmux.type("?by-the-helper");
      tmux.press("Enter");
      await tmux.shows(/code: proc\.exec/);
      tmux.type("?three helper");
      tmux.press("Enter");
      await tmux.shows(/^⤷ code$/m);
      tmux.type("q");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "/undo takes back what the sub-agent of a command did, as one turn",
    async act() {
      expect(existsSync(inProject("helper.txt"))).toBe(true);
      await say("/undo", /undone: \/code three helper\.txt\s+• removed helper\.txt/);
      expect(existsSync(inProject("helper.txt"))).toBe(false);
    },
  },
  {
    title: "an edit that is not asked about shows its true diff, with the rest of the line and its number",
    async act() {
      await say("edit it", "Done with edit.");
      await tmux.has(/^ {2}@@ -1 \+1 @@$/m);
      await tmux.has(/^ {2}-export const answer = 42;$/m);
      await tmux.has(/^ {2}\+export const answer = 43;$/m);
    },
  },
  {
    title: "an edit of the model keeps what the person changed in the file meanwhile",
    against: "opencode#38450",
    async act() {
      const path = inProject("README.md");
      const changed = "# Demo\n\nA small project.\n\nThe person was here.\n";
      await say("show README.md", "Done with show.");
      writeFileSync(path, changed);
      await say("retitle README.md", "README.md has changed since base_hash; nothing was written");
      expect(readFileSync(path, "utf8")).toBe(changed);
      await say("show README.md again", /› show README\.md again\n\n✓[\s\S]*Done with show\./);
      tmux.type("retitle README.md");
      tmux.press("Enter");
      await holds("README.md", changed.replace("Demo", "Retitled"));
      await tmux.shows(IDLE);
      writeFileSync(path, "# Demo\n\nA small project.\n");
    },
  },
  {
    title: "an edit leaves the line ends of a Windows file as they are",
    against: "gemini-cli#4056",
    async act() {
      writeFileSync(inProject("windows.txt"), "# Demo\r\n\r\nsecond\r\n");
      tmux.type("retitle windows.txt");
      tmux.press("Enter");
      await holds("windows.txt", "# Retitled\r\n\r\nsecond\r\n");
      await tmux.shows(IDLE);
      // The diff changes no other line, and shows no line end.
      expect(tmux.screen().join("\n")).toMatch(/^ {2}\+# Retitled\n\n {3}second$/m);
    },
  },
  {
    title: "Esc ends a command of the model with all that it started",
    against: "codex#27758",
    async act() {
      tmux.type("run sleep 4711 & touch child-began; sleep 4712");
      tmux.press("Enter");
      await vi.waitFor(() => expect(existsSync(inProject("child-began"))).toBe(true), WAITING);
      expect(sleepers("471[12]")).not.toBe("");
      tmux.press("Escape");
      await tmux.shows(IDLE);
      await vi.waitFor(() => expect(sleepers("471[12]")).toBe(""), WAITING);
      await say("go on", "Done with go.");
    },
  },
  {
    title: "the line of a search says what was searched for, and where",
    act: () => say("grep answ.r", /^✓ fs\.search_text answ\.r in src$/m),
  },
  {
    title: "the last output of a command of the person is shown while it runs",
    async act() {
      tmux.type("!echo first-of-two; sleep 300; echo second");
      tmux.press("Enter");
      await tmux.shows(/!echo first-of-two.*Esc stops · first-of-two/);
      tmux.press("Escape");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "Esc Esc opens the list of messages, however quickly it is pressed",
    async act() {
      tmux.press("Escape", "Escape");
      await tmux.shows("Go back to before which message?");
      tmux.press("Escape");
      await tmux.shows(IDLE);
    },
  },
  {
    title: "/branch changes the branch in the status line",
    async act() {
      await tmux.shows(/· main ·/);
      await say("/branch feat/trial", "made and switched to");
      await tmux.shows(/· feat\/trial ·/);
    },
  },
  {
    title: "/export without a name writes outside the project, and makes missing folders of a named file",
    against: "gemini-cli#2554",
    async act() {
      tmux.forget();
      await say("/export", /wrote\s+\/\S+/);
      const place = execFileSync("find", [
        String(project.env["XDG_STATE_HOME"]),
        "-path",
        "*/exports/ses_*.html",
      ]);
      expect(readFileSync(place.toString().trim(), "utf8")).toContain("edit it");
      await say("/export ../out/deep/talk.md", "wrote ../out/deep/talk.md");
      expect(existsSync(inProject("../out/deep/talk.md"))).toBe(true);
      expect(git("status", "--short")).not.toMatch(/html|talk/);
    },
  },
  {
    title: "an /undo that changes nothing says so last, with a diff of the files in conflict alone",
    against: "claude-code#16023",
    async act() {
      writeFileSync(
        inProject("long.txt"),
        `${Array.from({ length: 60 }, (_, at) => `row ${at}`).join("\n")}\n`,
      );
      await say("run echo two >> README.md && rm long.txt", "Done with run.");
      writeFileSync(inProject("README.md"), `${readFileSync(inProject("README.md"), "utf8")}mine\n`);
      tmux.forget();
      await say("/undo", "nothing was changed: you changed README.md too");
      const shown = tmux.screen().join("\n");
      expect(shown).toMatch(/nothing was changed[\s\S]*\/undo keep[\s\S]*\/undo overwrite/);
      expect(tmux.all().join("\n")).not.toContain("row 5");
      await say("/undo keep", /created long\.txt/);
      expect(existsSync(inProject("long.txt"))).toBe(true);
    },
  },
  {
    title: "/compact tells the numbers of /context, and what stays",
    async act() {
      await say("read it", "Done with read.");
      const shown = () => [
        ...tmux
          .all()
          .join("\n")
          .matchAll(/(\d+) of \d+ tokens of/g),
      ];
      const used = async () => {
        const { length } = shown();
        await say("/context", "tokens of claude-sonnet-5-5 are used");
        await vi.waitFor(() => expect(shown().length).toBeGreaterThan(length), WAITING);
        return Number(shown().at(-1)?.[1]);
      };
      const before = await used();
      await say("/compact", "the conversation was compacted");
      const told = tmux.all().join(" ").replaceAll(/\s+/g, " ");
      const [, from, to, kept] =
        /compacted: (\d+) → (\d+) tokens; the last \d turns, (\d+) tokens, stay/.exec(told) ?? [];
      expect(Number(from)).toBe(before);
      expect(Number(to)).toBeLessThan(before);
      expect(Number(to)).toBe(await used());
      expect(Number(kept)).toBeGreaterThan(LARGE.length / 4);
      expect(Number(kept)).toBeLessThan(Number(to));
    },
  },
  {
    title: "in a window of 20 columns the status line keeps the mode",
    async act() {
      tmux.resize(20, 30);
      await tmux.shows(/^sandbox\b/m);
      tmux.resize(100, 30);
      await tmux.shows(/claude-sonnet-5-5 · .*· sandbox/);
    },
  },
  {
    title: "a retry names the status and the attempt",
    async act() {
      tmux.type("busy now");
      tmux.press("Enter");
      await tmux.has(/! anthropic: Busy \(529, overloaded\); attempt 2 of 10 in \d+ s/);
      tmux.press("Escape");
      await tmux.shows(IDLE);
    },
  },
  {
    title:
      "--continue after kill -9 shows the last exchange and the command that was cut off, and the cost so far",
    against: "claude-code#18880",
    async act() {
      const costOf = () => Number(/\$(\d+\.\d+)/.exec(tmux.screen().join("\n"))?.[1]);
      tmux.type("run echo begun > begun.txt; sleep 300");
      tmux.press("Enter");
      await vi.waitFor(() => expect(existsSync(inProject("begun.txt"))).toBe(true), WAITING);
      const before = costOf();
      tmux.forget();
      process.kill(await pidOfAgent(), "SIGKILL");
      await tmux.shows(/Killed/);
      tmux.forget();
      start("--continue");
      await tmux.shows(/› run echo begun > begun\.txt; sleep 300/);
      await tmux.shows(/✗ proc\.exec echo begun/);
      await tmux.shows(/INTERRUPTED: Bash was running when the agent stopped/);
      await tmux.shows("the agent ended here, in the middle of its work");
      await tmux.shows(IDLE);
      expect(costOf()).toBeGreaterThanOrEqual(before);
    },
  },
  {
    title:
      "a session that is open elsewhere names its process and the way on; /resume of it keeps the current one",
    async act() {
      const holder = await pidOfAgent();
      const env = { ...project.env, ...accountAt(provider) };
      const { code, stderr } = await callOctant(["run", "--continue", "hello"], { cwd: project.root, env });
      expect(code).toBe(1);
      expect(stderr).toContain(`this session is open in process ${holder} (chat in ${project.root})`);
      expect(stderr).toMatch(/@octant\/cli --fork ses_\w+ continues in a copy/);
      expect(stderr).not.toContain("trying again may help");
      using other = openTmux(project.root, env);
      other.type("$OCTANT --model claude-sonnet-5-5");
      other.press("Enter");
      await other.shows(IDLE);
      const [, id = ""] = /--fork (ses_\w+)/.exec(stderr) ?? [];
      other.type(`/resume ${id}`);
      other.press("Enter");
      await other.has(`LOCKED: this session is open in process ${holder}`);
      await other.shows(IDLE);
      other.type("still here");
      other.press("Enter");
      await other.has("Heard: still here");
    },
  },
  {
    title: "Ctrl-Z pauses the chat as a job of the shell, and fg shows it again",
    against: "claude-code#36976",
    async act() {
      await tmux.shows(IDLE);
      tmux.press("C-z");
      await tmux.shows(/Stopped .*\n.*[#$]\s*$/);
      tmux.type("fg");
      tmux.press("Enter");
      await tmux.shows(/[#$] fg\n[\s\S]*ask, or \/ for commands/);
    },
  },
  {
    title: "closing the terminal ends the agent and the command that it ran",
    against: "claude-code#21287",
    async act() {
      const closed = openTmux(project.root, { ...project.env, ...accountAt(provider) });
      closed.type("$OCTANT --model claude-sonnet-5-5");
      closed.press("Enter");
      await closed.shows(IDLE);
      closed.type("!sleep 4811");
      closed.press("Enter");
      await vi.waitFor(() => expect(sleepers("481[1]")).not.toBe(""), WAITING);
      const open = (await findProcesses(project.env)).length;
      closed[Symbol.dispose]();
      await vi.waitFor(() => expect(sleepers("481[1]")).toBe(""), WAITING);
      await vi.waitFor(async () => expect((await findProcesses(project.env)).length).toBe(open - 1), WAITING);
    },
  },
];

const NO_TMUX = inject("missing").includes("tmux");

beforeAll(async () => {
  if (NO_TMUX) return;
  provider = await createScriptedProvider(script);
  project = createFixtureProject();
  writeFileSync(inProject("large.txt"), LARGE);
  tmux = openTmux(project.root, { ...project.env, ...accountAt(provider) });
  start();
  await tmux.shows(IDLE);
});

afterAll(async () => {
  if (NO_TMUX) return;
  tmux[Symbol.dispose]();
  await provider[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

test.skipIf(NO_TMUX).for(SCENARIOS)("$title", { timeout: 60_000 }, ({ act }) => act());
