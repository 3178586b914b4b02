import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";

test("what a project denies Claude Code stays closed here: to reads, searches, commands and edits", async () => {
  using project = createFixtureProject();
  const { root: cwd, env } = project;
  mkdirSync(join(cwd, ".claude"));
  writeFileSync(join(cwd, ".env"), "SECRET=sesame\n");
  const permissions = { deny: ["Read(.env)", "Edit(dist/**)", "Bash(git push:*)"] };
  writeFileSync(join(cwd, ".claude/settings.json"), JSON.stringify({ permissions }));
  const call = (...args: string[]) => callOctant(["call", ...args], { cwd, env });
  const said = [
    await call("fs.read", "uri=.env"),
    await call("fs.search_text", "pattern=sesame"),
    await call("fs.write", "uri=dist/new.js", "content=x"),
    await call("proc.exec", "command=git push origin main"),
  ];
  // A question about the command would need a terminal; the rule decides before.
  const [read, searched, written, pushed] = said.map(({ stdout, stderr }) => stdout + stderr);
  for (const refused of [read, written, pushed]) expect(refused).toContain("PERMISSION_DENIED");
  expect(read).toContain("Read(.env) in .claude/settings.json");
  expect(searched).not.toContain("SECRET=");
  const { stdout } = await call("fs.read", "uri=package.json");
  expect(stdout).toContain("{");
});
