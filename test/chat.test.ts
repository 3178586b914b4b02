import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Script } from "@octant/scripted-provider";
import { expect, test, vi } from "vitest";
import { openChat } from "./open-chat.ts";
import { IN_TEMP } from "./published-command.ts";

const EDIT: Script = (request) => {
  if (request.answers === 0)
    return {
      parts: [
        { text: "# Plan\n\nI **look** first." },
        { call: "fs", input: { action: "read", uri: "src/main.ts" } },
      ],
    };
  if (request.answers === 1)
    return {
      parts: [
        {
          call: "fs",
          input: {
            action: "apply_patch",
            uri: "src/main.ts",
            base_hash: /\b[0-9a-f]{12}\b/.exec(request.results[0]?.text ?? "")?.[0],
            patch: [{ op: "replace", old: "42", new: "43" }],
          },
        },
      ],
    };
  return { parts: [{ text: "The answer is 43 now." }] };
};

test("octant alone in a terminal is the agent: it asks with a diff, edits, and leaves its conversation in the scrollback", async () => {
  await using opened = await openChat(EDIT);
  const { terminal, project } = opened;
  await opened.start();
  terminal.type("fix the answer in @src/ma");
  await terminal.shows("› @src/main.ts");
  terminal.type("\t\r");
  await terminal.shows("+export const answer = 43;");
  await terminal.shows("[y] allow once");
  expect(readFileSync(join(project.root, "src/main.ts"), "utf8")).toContain("42");
  terminal.type("y");
  await terminal.shows("The answer is 43 now.");
  expect(readFileSync(join(project.root, "src/main.ts"), "utf8")).toContain("43");
  await terminal.shows("ask, or / for commands");
  terminal.type("a draft\x1a");
  await terminal.shows(/Stopped/);
  terminal.type("echo while it is paused\r");
  await terminal.shows(/^while it is paused$/m);
  terminal.type("fg\r");
  await terminal.shows("› a draft");
  terminal.type("\x03");
  terminal.resize(60, 20);
  terminal.type("/quit\r");
  await terminal.shows(/--resume\s+\S+/);
  terminal.type("echo back in the shell\r");
  await terminal.shows(/^back in the shell$/m);
  const rows = await terminal.all();
  expect(rows.filter((row) => row === "a line of the shell")).toHaveLength(1);
  expect(rows.filter((row) => row === "The answer is 43 now.")).toHaveLength(1);
  expect(terminal.written).not.toContain("\x1b[3J");
  expect(terminal.written).not.toContain("\x1b[?1049h");
});

test("Esc Esc rewinds to before a message, with the files, and offers the message again", async () => {
  await using opened = await openChat((request) => {
    const name = /make (\w+)/.exec(request.user)?.[1];
    if (request.results.length > 0) return { parts: [{ text: `Made ${name}.` }] };
    return { parts: [{ call: "fs", input: { action: "write", uri: `${name}.txt`, content: "x" } }] };
  });
  const { terminal, project, provider } = opened;
  const made = () => readdirSync(project.root).filter((name) => name.endsWith(".txt"));
  await opened.start();
  for (const name of ["one", "two", "three"]) {
    terminal.type(`make ${name}\r`);
    await terminal.shows(`fs.write`);
    await terminal.shows("[y] allow once");
    terminal.type("y");
    await terminal.shows(`Made ${name}.`);
    await terminal.shows("ask, or / for commands");
  }
  expect(made().sort()).toEqual(["one.txt", "three.txt", "two.txt"]);
  writeFileSync(join(project.root, "three.txt"), "changed by the person");
  terminal.type("\x1b");
  await terminal.shows("Esc again");
  terminal.type("\x1b");
  await terminal.shows("Go back to before which message?");
  terminal.type("\x1b[A\r");
  await terminal.shows("files as they were: two.txt");
  await terminal.shows("because you changed them too: three.txt");
  await terminal.shows(/› make two\n\S*some-model/);
  expect(made().sort()).toEqual(["one.txt", "three.txt"]);
  terminal.type("!\r");
  await terminal.shows("[y] allow once");
  const last = provider.requests.at(-1)?.raw ?? "";
  expect(last).toContain("make one");
  expect(last).not.toContain("make three");
});

test("in a window of 40 columns the theme follows the background; /help, pager and external editor work", async () => {
  await using opened = await openChat(() => ({ parts: [{ text: "A short answer." }] }), {
    size: [40, 30],
    background: "rgb:ffff/ffff/f0f0",
  });
  const { terminal, project } = opened;
  const editor = join(project.env["HOME"] ?? "", "editor.sh");
  writeFileSync(editor, '#!/bin/sh\nprintf "%s, edited" "$(cat "$1")" > "$1"\n', { mode: 0o755 });
  await opened.start(`EDITOR=${editor}`);
  await vi.waitFor(() => expect(terminal.written).toContain("\x1b[1;38;5;91m› "), { timeout: 20_000 });
  // The terminal's answer is not taken for typing.
  expect((await terminal.all()).join("\n")).not.toContain("rgb");
  terminal.type("/help\r");
  await terminal.shows("• Ctrl-O show and search the whole");
  await terminal.shows("• /undo");
  const rows = await terminal.all();
  for (const row of rows.slice(rows.findIndex((one) => one.includes("/help"))))
    expect(row.length).toBeLessThanOrEqual(40);
  terminal.resize(100, 30);
  terminal.type("hi\r");
  await terminal.shows("A short answer.");
  terminal.type("\x0f");
  await terminal.shows("q back");
  terminal.type("q");
  await terminal.shows("ask, or / for commands");
  terminal.type("draft\x07");
  await terminal.shows("› draft, edited");
});

test("the status counts background commands until they end, and closing the terminal leaves no process behind", async () => {
  await using opened = await openChat(({ results, user }) => {
    if (user === "wait")
      return { parts: [{ call: "proc", input: { action: "exec", command: "sleep 600" } }] };
    return results.length === 0
      ? { parts: [{ call: "proc", input: { action: "exec", command: "exec cat", background: true } }] }
      : { parts: [{ text: `It runs as ${/proc_\w+/.exec(results[0]?.text ?? "")?.[0]}.` }] };
  });
  const { terminal, project } = opened;
  await opened.start();
  terminal.type("go\r");
  await terminal.shows("[y] allow once");
  terminal.type("y");
  await terminal.shows("It runs as proc_");
  await terminal.shows("1 job running");
  const [pid] = processesIn(project.root).filter(({ name }) => name === "cat");
  process.kill(Number(pid?.pid));
  await vi.waitFor(async () => expect((await terminal.all()).at(-1)).not.toContain("running"), {
    timeout: 20_000,
  });
  terminal.type("wait\r");
  await terminal.shows("[y] allow once");
  terminal.type("y");
  const programs = () => processesIn(project.root).map(({ name }) => name);
  await vi.waitFor(() => expect(programs()).toContain("sleep"), { timeout: 20_000 });
  terminal.hangUp();
  await vi.waitFor(() => expect(programs()).toEqual([]), { timeout: 20_000, interval: 100 });
});

/** The programs that run in a folder, except the shell. */
function processesIn(folder: string): { pid: string; name: string }[] {
  if (!existsSync("/proc/self")) return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        const name = readFileSync(`/proc/${pid}/comm`, "utf8").trim();
        return environment.includes(folder) && name !== "bash" ? [{ pid, name }] : [];
      } catch {
        return [];
      }
    });
}

test("Shift-Tab goes through the modes, the status line shows each, and sandbox runs a command unasked", async () => {
  await using opened = await openChat(({ answers, results }) =>
    answers === 0
      ? {
          parts: [{ call: "proc", input: { action: "exec", command: "echo made > made.txt; cat made.txt" } }],
        }
      : { parts: [{ text: `It printed ${results[0]?.text.split("\n")[0]}.` }] },
  );
  const { terminal } = opened;
  await opened.start();
  await terminal.shows("/undo takes back what the agent does");
  await terminal.shows("· ask ·");
  terminal.type("\x1b[Z");
  await terminal.shows("mode: edits. Edit files of the workspace without asking");
  terminal.type("\x1b[Z");
  await terminal.shows("mode: sandbox.");
  await terminal.shows("· sandbox ·");
  terminal.type("go\r");
  await terminal.shows("It printed made.");
  terminal.type("\x1b[Z");
  await terminal.shows("· plan ·");
  terminal.type("\x1b[Z");
  await terminal.shows("· ask ·");
});

test.skipIf(IN_TEMP)(
  "the built command makes what measures other scripts when it shows the first of them",
  async () => {
    await using opened = await openChat(() => ({ parts: [{ text: "Hello." }] }));
    const { root } = opened.project;
    const [recorder, made] = [join(root, "recorder.mjs"), join(root, "made.txt")];
    writeFileSync(
      recorder,
      `import { writeFileSync } from "node:fs";
    const { Segmenter } = Intl;
    Intl.Segmenter = function (...given) {
      writeFileSync(${JSON.stringify(made)}, "");
      return new Segmenter(...given);
    };`,
    );
    await opened.start(`NODE_OPTIONS=--import=${recorder}`);
    expect(existsSync(made)).toBe(false);
    opened.terminal.type("漢字");
    await opened.terminal.shows("› 漢字");
    expect(existsSync(made)).toBe(true);
  },
);
