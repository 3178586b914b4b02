import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test, vi } from "vitest";
import { openChat } from "./open-chat.ts";

/** The person's own status line and the calls for their attention, on a real screen. */
const IDLE = "ask, or / for commands";
const WAITING = { timeout: 30_000, interval: 50 };
const NO_TMUX = inject("missing").includes("tmux");

type Chat = Awaited<ReturnType<typeof openChat>>;

function setSettings(folder: string, settings: object): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
}

const userFolder = ({ project }: Chat): string => join(project.env["HOME"] ?? "", ".config/hanzo");

async function say({ terminal, provider }: Chat, text: string) {
  const before = provider.requests.length;
  terminal.type(`${text}\r`);
  await vi.waitFor(() => expect(provider.requests.length).toBeGreaterThan(before), WAITING);
  await terminal.shows(`Heard: ${text}`);
}

const echo = ({ user }: { user: string }) => ({ parts: [{ text: `Heard: ${user.trim()}` }] });

test("a status line script reads Claude Code's JSON, and its output cannot move the cursor", async () => {
  await using chat = await openChat(echo);
  const command = [
    "cat > status.json",
    `printf 'MINE \\033[31mred\\033[0m \\033[2J\\033]0;title\\007 \\001 %s\\n' "$(tr ',' '\\n' < status.json | grep -c model)"`,
  ].join("; ");
  setSettings(userFolder(chat), { status_line: { command } });
  await chat.start();
  const { terminal, project } = chat;
  await terminal.shows(/^MINE red {2}\\x01 \d+$/m);
  expect(terminal.written).not.toContain("\x1b]0;title");
  await say(chat, "hello");
  const status = () => JSON.parse(readFileSync(join(project.root, "status.json"), "utf8"));
  await vi.waitFor(() => expect(status().context_window.total_input_tokens).toBeGreaterThan(0), WAITING);
  expect(status()).toMatchObject({
    hook_event_name: "Status",
    cwd: project.root,
    session_id: expect.stringMatching(/^ses_/),
    transcript_path: expect.stringMatching(/transcript\.jsonl$/),
    model: { id: "some-model", display_name: "some-model" },
    workspace: { current_dir: project.root, project_dir: project.root },
    cost: { total_duration_ms: expect.any(Number) },
    context_window: { context_window_size: expect.any(Number), used_percentage: expect.any(Number) },
  });
}, 60_000);

test("a script that hangs or fails says so and blocks nothing; a project's waits for trust", async () => {
  await using chat = await openChat(echo);
  setSettings(join(chat.project.root, ".hanzo"), { status_line: { command: "touch ran; echo THEIRS" } });
  setSettings(userFolder(chat), { status_line: { command: "sleep 1000", timeout_ms: 200 } });
  chat.terminal.type("$OCTANT --model some-model\r");
  await chat.terminal.shows("[y/N]");
  chat.terminal.type("n\r");
  await chat.terminal.shows("the status line script failed: it took longer than 200 ms");
  await say(chat, "still here");
  expect(existsSync(join(chat.project.root, "ran"))).toBe(false);
  expect((await chat.terminal.all()).join("\n")).toContain(".hanzo/settings.json");
}, 60_000);

test("the end of the work is notified while the terminal is unfocused, and not while it is focused", async () => {
  await using chat = await openChat(echo);
  await chat.start("TERM_PROGRAM=ghostty");
  const { terminal } = chat;
  const count = () => terminal.written.split("\x1b]777;notify;Octant;The agent is done").length - 1;
  expect(terminal.written).toContain("\x1b[?1004h");
  // The terminal reports that its window has the focus.
  terminal.type("\x1b[I");
  await say(chat, "one");
  await terminal.shows(IDLE);
  terminal.type("\x1b[O");
  await say(chat, "two");
  await vi.waitFor(() => expect(count()).toBe(1), WAITING);
  terminal.type("\x03");
  terminal.type("\x03");
  await terminal.shows("resumes this session");
  expect(terminal.written.lastIndexOf("\x1b[?1004l")).toBeGreaterThan(
    terminal.written.lastIndexOf("\x1b[?1004h"),
  );
}, 60_000);

test.skipIf(NO_TMUX)(
  "inside tmux a notification passes through where tmux allows it, and goes to notify-send where not",
  async () => {
    await using chat = await openChat(echo);
    const { terminal, project } = chat;
    const home = project.env["HOME"] ?? "";
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "notify-send"), `#!/bin/sh\nprintf '%s\\n' "$@" > "${home}/notified"\n`);
    chmodSync(join(bin, "notify-send"), 0o755);
    setSettings(userFolder(chat), { notifications: { after_seconds: 0 } });
    const socket = `octant-notify-${process.pid}`;
    terminal.type(`export PATH=${bin}:$PATH KITTY_WINDOW_ID=1 DISPLAY=:99\r`);
    terminal.type(`tmux -L ${socket} -f /dev/null new-session "bash --norc --noprofile"\r`);
    try {
      await terminal.shows(/\[0\]/);
      await chat.start();
      await say(chat, "first");
      const notified = join(home, "notified");
      await vi.waitFor(() => expect(existsSync(notified)).toBe(true), WAITING);
      expect(readFileSync(notified, "utf8")).toBe(
        "--app-name=Octant\n--\nOctant\nThe agent is done: first\n",
      );
      expect(terminal.written).not.toContain("\x1b]777;notify");
      const env = { ...process.env, ...project.env };
      execFileSync("tmux", ["-L", socket, "set", "-g", "allow-passthrough", "on"], { env });
      await say(chat, "second");
      await vi.waitFor(
        () => expect(terminal.written).toContain("\x1b]777;notify;Octant;The agent is done: first\x07"),
        WAITING,
      );
    } finally {
      spawnSync("tmux", ["-L", socket, "kill-server"], { env: { ...process.env, ...project.env } });
    }
  },
  60_000,
);
