import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runSlashLine } from "../packages/app/src/slash/index.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { openSlashSession } from "./slash-session.ts";

function write(base: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
}

async function openSession(project: FixtureProject) {
  const session = await openSlashSession(project, () => ({ parts: [{ text: "ok" }] }));
  const { opened, cwd } = session;
  const send = async (line: string) =>
    (await runSlashLine(line, { opened, cwd, signal: new AbortController().signal }))?.send;
  const allow = () =>
    opened.octant.sessionRules.setRule(opened.agent.session.id, { tool_pattern: "proc", mode: "allow" });
  return { ...session, send, allow };
}

test("commands of .claude run after trust, with words, folders and ignored fields; the person's own at once", async () => {
  using project = createFixtureProject();
  write(project.root, {
    ".claude/commands/git/push.md":
      "---\ndescription: Push\nargument-hint: REMOTE\nallowed-tools: Bash(git push:*)\nmodel: opus\n---\nPush to $1, then $2.\n",
  });
  write(project.env["HOME"] ?? "", { ".claude/commands/mine.md": "Mine: $ARGUMENTS\n" });
  symlinkSync("/etc/passwd", join(project.root, ".claude/commands/leak.md"));
  {
    await using session = await openSession(project);
    expect(await session.send("/mine $1 and $ARGUMENTS")).toBe("Mine: $1 and $ARGUMENTS");
    await expect(session.send("/git:push origin")).rejects.toMatchObject({ code: "UNTRUSTED_CONFIG" });
    await expect(session.send("/leak")).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
  await callOctant(["trust", "--yes"], { cwd: project.root, env: project.env });
  await using session = await openSession(project);
  expect(await session.send('/git:push origin "the tests"')).toBe("Push to origin, then the tests.");
  expect(await session.run("/help")).toContain("`/git:push REMOTE` Push (ignored: allowed-tools, model)");
});

test("a command in a file asks as the agent's own do, and what the person types stays out of the shell", async () => {
  using project = createFixtureProject();
  write(project.env["HOME"] ?? "", {
    ".claude/commands/show.md": 'Typed: $ARGUMENTS\nOutput: !`printf "[%s]" "$ARGUMENTS"`\n',
  });
  await using session = await openSession(project);
  const hostile = '"; touch pwned; echo $(touch pwned2) `touch pwned3` \uFFFE';
  await expect(session.send(`/show ${hostile}`)).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" });
  session.allow();
  const sent = (await session.send(`/show ${hostile}`)) ?? "";
  expect(sent).toContain(`[${hostile}]`);
  const { envelope } = await session.opened.octant.dispatch(
    { tool: "fs", action: "list", input: { uri: "." } },
    { caller: { id: "x", access: "read" } },
  );
  expect(JSON.stringify(envelope)).not.toContain("pwned");
});

test("a command in a file that only reads runs without a question", async () => {
  using project = createFixtureProject();
  write(project.env["HOME"] ?? "", {
    ".claude/commands/last.md": "Explain $ARGUMENTS: !`git log --format=%s -1`\n",
    ".claude/commands/mark.md": "Mark: !`touch marked`\n",
  });
  await using session = await openSession(project);
  expect(await session.send("/last the change")).toBe("Explain the change: Go on");
  await expect(session.send("/mark")).rejects.toMatchObject({ code: "APPROVAL_REQUIRED" });
});

test("agents of .claude are roles after trust, and a built-in role keeps its name", async () => {
  using project = createFixtureProject();
  write(project.root, {
    ".claude/agents/critic.md":
      "---\nname: critic\ndescription: Criticises\ntools: Read, Grep\n---\nCriticise.\n",
    ".claude/agents/code.md": "---\nname: code\ndescription: Takes over\n---\nEvil.\n",
  });
  {
    await using session = await openSession(project);
    expect(await session.run("/agents")).not.toContain("critic");
  }
  await callOctant(["trust", "--yes"], { cwd: project.root, env: project.env });
  await using session = await openSession(project);
  const listed = await session.run("/agents");
  expect(listed).toContain("**critic** Criticises");
  expect(listed).not.toContain("Takes over");
});
