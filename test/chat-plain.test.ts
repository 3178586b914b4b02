import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openChat } from "./open-chat.ts";

test("plain mode writes lines without redraws, and every question is answered with a line", async () => {
  await using opened = await openChat((request) => {
    if (request.answers === 0)
      return { parts: [{ call: "fs", input: { action: "write", uri: "a.txt", content: "x" } }] };
    if (request.answers === 1)
      return { parts: [{ call: "fs", input: { action: "write", uri: "b.txt", content: "y" } }] };
    return { parts: [{ text: "# Done\n\nOnly **one** file." }] };
  });
  const { terminal, project, provider } = opened;
  terminal.type("TERM=dumb $OCTANT --model some-model\r");
  await terminal.shows(/^>$/m);
  terminal.type("make two files\r");
  await terminal.shows("question: fs.write");
  await terminal.shows("answer with a letter:");
  terminal.type("\r");
  await terminal.shows(/answer with a letter:\n[\s\S]*answer with a letter:/);
  terminal.type("allow once\r");
  await terminal.shows("done: fs.write a.txt");
  await terminal.shows(/b\.txt[\s\S]*answer with a letter:\s*$/);
  terminal.type("r\r");
  await terminal.shows("why not?");
  terminal.type("one is enough\r");
  await terminal.shows("Only one file.");
  await terminal.shows(/some-model, context \d+ % full.*\n>\s*$/);
  expect(existsSync(join(project.root, "b.txt"))).toBe(false);
  expect(readFileSync(join(project.root, "a.txt"), "utf8")).toBe("x");
  expect(provider.requests.at(-1)?.raw).toContain("one is enough");
  const begin = terminal.written.indexOf("TERM=dumb");
  terminal.type("/quit\r");
  await terminal.shows("resumes this session");
  // Bash's own output around its prompt is not ours.
  const ours = terminal.written.slice(begin, terminal.written.indexOf("resumes this session"));
  expect(ours.replaceAll("\x1b[?2004l", "")).not.toContain("\x1b");
});

test("octant takes the flags of a conversation without its name, and refuses others by name", async () => {
  await using opened = await openChat(() => ({ parts: [] }));
  const { terminal } = opened;
  terminal.type("$OCTANT --plain --model some-model\r");
  await terminal.shows(/^>$/m);
  terminal.type("/quit\r");
  await terminal.shows("resumes this session");
  terminal.type("$OCTANT --plian\r");
  await terminal.shows("'--plian'");
});
