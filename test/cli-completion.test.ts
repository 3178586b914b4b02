import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";

const isHere = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

async function loadScript(shell: string): Promise<string> {
  const { code, stdout } = await callOctant(["completion", shell], { cwd: project.root, env: project.env });
  expect(code).toBe(0);
  const path = join(project.root, `../octant.${shell}`);
  writeFileSync(path, stdout);
  return path;
}

/** The shell's completions, one per line. */
const offers = (shell: string, script: string, args: readonly string[]) => {
  const { stdout, stderr } = spawnSync(shell, ["-c", script, ...args], {
    cwd: project.root,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return stdout.split("\n").filter(Boolean);
};

/** The line up to the cursor, the expected completions, and those that must not appear. */
const LINES = [
  ["octant se", ["serve"], ["call"]],
  ["octant call fs.re", ["fs.read"], ["fs.list"]],
  ["octant call fs.read enc", ["encoding="], ["uri="]],
  ["octant call --json fs.read u", ["uri="], ["encoding="]],
  ["octant serve --mo", ["--mode"], ["--root"]],
  ["octant serve --mode ", ["inspect"], ["serve"]],
  ["octant help fs.sea", ["fs.search_text"], ["fs.read"]],
  ["octant completion ", ["bash", "zsh", "fish"], ["call"]],
] as const;

describe.skipIf(!isHere("bash"))("bash", () => {
  let script: string;
  beforeAll(async () => {
    script = await loadScript("bash");
  });

  test.each([
    ...LINES,
    ["octant call fs.read encoding=b", ["base64"], ["utf-8"]],
    ["octant call fs.read uri=READ", ["README.md"], ["package.json"]],
  ] as const)("'%s' completes to %j", (line, wanted, unwanted) => {
    const ask = `source "$0"; COMP_LINE="$1"; COMP_POINT=\${#1}; _octant; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const offered = offers("bash", ask, [script, line]);
    expect(offered).toEqual(expect.arrayContaining([...wanted]));
    for (const word of unwanted) expect(offered).not.toContain(word);
  });
});

describe.skipIf(!isHere("fish"))("fish", () => {
  let script: string;
  beforeAll(async () => {
    script = await loadScript("fish");
  });

  test.each([
    ...LINES,
    ["octant call fs.read encoding=b", ["encoding=base64"], ["encoding=utf-8"]],
    ["octant call fs.read uri=READ", ["uri=README.md"], ["uri=package.json"]],
  ] as const)("'%s' completes to %j", (line, wanted, unwanted) => {
    const offered = offers("fish", "source $argv[1]; complete -C $argv[2]", [script, line]);
    const words = offered.map((offer) => offer.split("\t")[0]);
    expect(words).toEqual(expect.arrayContaining([...wanted]));
    for (const word of unwanted) expect(words).not.toContain(word);
  });
});

test.skipIf(!isHere("zsh"))("zsh takes the script", async () => {
  const ask = 'autoload -Uz compinit; compinit -u -D; source "$0"; print $_comps[octant]';
  expect(offers("zsh", ask, [await loadScript("zsh")])).toEqual(["_octant"]);
});
