import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OutputOf } from "@octant/core";
import { ANSWER_BYTES } from "@octant/core";
import { createConfinement } from "@octant/host";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Facts, PROJECTS } from "../../testing/ws/projects.ts";
import { CALLER, type TemporaryProject, temporaryProject } from "../../testing/ws/temporary-project.ts";
import { ECOSYSTEMS } from "./ecosystems/index.ts";
import type { ws } from "./index.ts";

type Detected = OutputOf<ReturnType<typeof ws>, "detect">;

// The dispatcher has validated the data against the action's output schema.
const detect = async (project: TemporaryProject, input?: Record<string, unknown>) =>
  (await project.call("detect", input)) as Detected;

/** The answer in the short form of the table. */
function toFacts(answer: Detected, project: TemporaryProject): Required<Facts> {
  const place = (uri: string) => decodeURIComponent(uri).slice(project.uri("").length + 1) || ".";
  const command = (words: string[], cwd: string) =>
    place(cwd) === "." ? words.join(" ") : `${words.join(" ")} @${place(cwd)}`;
  const { vcs } = answer;
  const head = vcs?.branch ?? (vcs?.commit ? `detached ${vcs.commit}` : "unknown");
  return {
    name: answer.name,
    languages: answer.languages.map(({ name, files }) => `${name} ${files}`),
    managers: answer.package_managers.map(({ name, uri }) => `${name} ${place(uri)}`),
    build: answer.build.map((one) => `${one.name}: ${command(one.command, one.cwd)}`),
    test: answer.test.map((one) => `${one.runner}: ${command(one.command, one.cwd)}`),
    frameworks: answer.frameworks.map(({ name, uri }) => `${name} ${place(uri)}`),
    entries: answer.entry_points.map(({ kind, uri, name, exists }) =>
      [kind, place(uri), name, exists ? undefined : "(missing)"].filter(Boolean).join(" "),
    ),
    tools: (answer.monorepo?.tools ?? []).map(({ name, uri }) => `${name} ${place(uri)}`),
    packages: (answer.monorepo?.packages ?? []).map(
      ({ name, uri, member }) => `${name} ${place(uri)}${member ? " member" : ""}`,
    ),
    vcs: vcs ? `${place(vcs.uri)} ${head}${vcs.linked ? " linked" : ""}` : "",
    instructions: answer.instructions.map(place),
    containers: answer.containers.map(place),
    ci: answer.ci.map(place),
    problems: answer.problems.map(({ uri }) => place(uri)),
  };
}

describe("what is detected", () => {
  test.each(PROJECTS.map((row) => [row.title, row] as const))("%s", async (_, { files, facts }) => {
    using project = temporaryProject(files);
    const told = toFacts(await detect(project), project);
    const asked = Object.keys(facts) as (keyof Facts)[];
    expect(Object.fromEntries(asked.map((key) => [key, told[key]]))).toEqual(facts);
  });
});

test("a path returns its enclosing project, with the lock file, branch and instructions of those above", async () => {
  using project = temporaryProject({
    "AGENTS.md": "",
    "pnpm-lock.yaml": "",
    "package.json": '{"name":"top"}',
    ".git/HEAD": "ref: refs/heads/main\n",
    "packages/a/package.json": '{"name":"a"}',
    "packages/a/src/x.ts": "",
    "docs/guide.md": "",
  });
  const inner = await detect(project, { path: "packages/a/src/x.ts" });
  expect(inner).toMatchObject({
    name: "a",
    root: project.uri("packages/a"),
    roots: [project.uri("")],
    package_managers: [{ name: "pnpm", uri: project.uri("pnpm-lock.yaml") }],
    vcs: { uri: project.uri(""), branch: "main" },
    instructions: [project.uri("AGENTS.md")],
    monorepo: null,
  });
  expect(await detect(project, { path: project.uri("docs") })).toMatchObject({
    name: "top",
    root: project.uri(""),
  });
});

test("a linked worktree shows its branch, wherever its repository is", async () => {
  using repository = temporaryProject({
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/worktrees/w/HEAD": "ref: refs/heads/w\n",
    ".git/worktrees/w/commondir": "../..\n",
  });
  const gitDir = join(repository.root, ".git/worktrees/w");
  using project = temporaryProject({ ".git": `gitdir: ${gitDir}\n` });
  expect((await detect(project)).vcs).toBeNull();
  writeFileSync(join(gitDir, "gitdir"), join(project.root, ".git"));
  expect((await detect(project)).vcs).toMatchObject({ uri: project.uri(""), branch: "w", linked: true });
});

test("with several roots, a path is looked up in its own", async () => {
  using first = temporaryProject({ "go.mod": "module one\n" });
  using second = temporaryProject({ "go.mod": "module two\n", "a/b.go": "" });
  const confinement = createConfinement([first.root, second.root]);
  using both = temporaryProject({}, { workspace: { confinement } });
  expect(await detect(both)).toMatchObject({ name: "one", roots: [first.uri(""), second.uri("")] });
  expect(await detect(both, { path: second.uri("a/b.go") })).toMatchObject({
    name: "two",
    root: second.uri(""),
  });
});

test("a missing path or one outside is refused with its code", async () => {
  using project = temporaryProject({});
  await expect(detect(project, { path: "nowhere" })).rejects.toThrow("NOT_FOUND");
  await expect(detect(project, { path: "../.." })).rejects.toThrow("OUTSIDE_WORKSPACE");
});

test("links are not followed, and one that points outside is neither read nor reported", async () => {
  using outside = temporaryProject({
    "package.json": '{"name":"secret"}',
    "AGENTS.md": "",
    "deep/go.mod": "module m\n",
  });
  using project = temporaryProject({ "CLAUDE.md": "", "real/go.mod": "module real\n" });
  symlinkSync("CLAUDE.md", join(project.root, "AGENTS.md"));
  symlinkSync(join(outside.root, "AGENTS.md"), join(project.root, "GEMINI.md"));
  symlinkSync(join(outside.root, "package.json"), join(project.root, "package.json"));
  symlinkSync(outside.root, join(project.root, "outside"));
  symlinkSync(project.root, join(project.root, "real", "loop"));
  const answer = await detect(project);
  const told = toFacts(answer, project);
  expect(told.instructions).toEqual(["CLAUDE.md", "AGENTS.md"]);
  expect(told.packages).toEqual(["real real"]);
  expect(JSON.stringify(answer)).not.toContain("secret");
});

test("a FIFO in place of a manifest does not hang the call", async () => {
  using project = temporaryProject({ "go.mod": "module m\n" });
  execFileSync("mkfifo", [join(project.root, "package.json"), join(project.root, "AGENTS.md")]);
  expect(toFacts(await detect(project), project)).toMatchObject({ name: "m", instructions: [] });
});

test("names that are not UTF-8 keep their bytes in the uri", async () => {
  using project = temporaryProject({});
  const folder = Buffer.concat([Buffer.from(`${project.root}/`), Buffer.of(0xff)]);
  mkdirSync(folder);
  writeFileSync(Buffer.concat([folder, Buffer.from("/go.mod")]), "module odd\n");
  const answer = await detect(project);
  expect(answer.monorepo?.packages).toMatchObject([{ name: "odd", uri: `${project.uri("")}/%FF` }]);
});

test("shares are relative to the files in all languages", async () => {
  using project = temporaryProject({
    "a.ts": "",
    "b.ts": "",
    "c.mts": "",
    "d.py": "",
    "e.md": "",
    "f.json": "",
  });
  expect((await detect(project)).languages).toEqual([
    { name: "TypeScript", files: 3, share: 0.75 },
    { name: "Python", files: 1, share: 0.25 },
  ]);
});

test("a huge repository is described in part, within the budget, with counts of omitted items", async () => {
  const names = Array.from(
    { length: 200 },
    (_, at) => `package-${String(at).padStart(3, "0")}-${"x".repeat(150)}`,
  );
  using project = temporaryProject({
    "package.json": '{"name":"huge","workspaces":["p/*"]}',
    ...Object.fromEntries(names.map((name) => [`p/${name}/package.json`, `{"name":"${name}"}`])),
  });
  const answer = await detect(project);
  const kept = answer.monorepo?.packages.length ?? 0;
  expect(kept).toBeGreaterThan(10);
  expect(answer.omitted).toEqual({ packages: names.length - kept });
  expect(JSON.stringify(answer).length).toBeLessThan(ANSWER_BYTES);
});

test("a folder with too many entries marks the answer as incomplete", async () => {
  using project = temporaryProject({ "go.mod": "module m\n" });
  mkdirSync(join(project.root, "data"));
  for (let at = 0; at < 5_001; at++)
    linkSync(join(project.root, "go.mod"), join(project.root, "data", `${at}.ts`));
  expect(await detect(project)).toMatchObject({ name: "m", truncated: true });
});

test("overly deep folders are not walked, and the answer says so", async () => {
  using project = temporaryProject({ "go.mod": "module m\n", [`${"d/".repeat(40)}x.go`]: "" });
  expect(await detect(project)).toMatchObject({ name: "m", languages: [], truncated: true });
});

test("a cancelled call ends as cancelled", async () => {
  using project = temporaryProject({ "a/go.mod": "module a\n", "b/go.mod": "module b\n" });
  const stop = new AbortController();
  const reply = project.dispatch(
    { tool: "ws", action: "detect", input: {} },
    { caller: CALLER, signal: stop.signal },
  );
  stop.abort();
  expect((await reply).envelope.error).toMatchObject({ code: "CANCELLED" });
});

/** `npm run torture -- --only fuzz-runs` has more. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 50);
/** A pattern that takes quadratic time would need seconds for it; each takes about 30 milliseconds. */
const FLOOD_BYTES = 40_000;
const MAX_FLOOD_US = 800_000;

describe("hostile manifests", () => {
  const MANIFESTS = [
    ...ECOSYSTEMS.flatMap(({ markers }) => markers).map((marker) => marker.replace("*", "x")),
    "pnpm-workspace.yaml",
    "lerna.json",
    ".git",
    "tox.ini",
  ];
  const PIECES = [
    ..."\"'[]{}<>()=:,.#*!\\/\n\t \r",
    ...[
      "__proto__",
      "constructor",
      '"name":',
      "name = ",
      "[project]",
      "[[bin]]",
      "<module>",
      "</module>",
      "<!--",
    ],
    ...[
      "packages:",
      "- ",
      "gitdir: ",
      "module ",
      "use (",
      "include(",
      "project(",
      "scripts",
      "workspaces",
      "\0",
    ],
    ...["[[a]]", "a = [", 'a = "', 'a = """', '"a": "\\\\"', "a.b.c = 1", "{{a}}", "<a b=", '<Project "'],
    ...[
      '"""',
      "'''",
      "\\u",
      "\uFEFF",
      "\uD800",
      "..",
      "**",
      "{a,{b}",
      "//",
      "/*",
      "/* ",
      '\\"',
      "../../..",
      "é",
      "💥",
    ],
  ];
  const text = fc.oneof(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join("")),
    fc.json(),
    fc.string({ unit: "binary" }),
  );
  const manifest = fc.record({
    name: fc.anything({ maxDepth: 1 }),
    scripts: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.anything({ maxDepth: 1 })),
    dependencies: fc.oneof(fc.dictionary(fc.string(), fc.string()), fc.anything({ maxDepth: 1 })),
    workspaces: fc.oneof(
      fc.array(fc.constantFrom("**", "*", "!a", "{a,b}", "a/../..")),
      fc.anything({ maxDepth: 1 }),
    ),
    bin: fc.anything({ maxDepth: 2 }),
    main: fc.anything({ maxDepth: 1 }),
    exports: fc.anything({ maxDepth: 2 }),
  });
  const asJson = manifest.map((value) =>
    JSON.stringify(value, (_, part) => (typeof part === "bigint" ? 0 : part)),
  );

  test("always lead to a valid answer", async () => {
    const files = fc.dictionary(
      fc.constantFrom(...MANIFESTS, ...MANIFESTS.map((name) => `a/${name}`)),
      fc.oneof(text, asJson),
      { minKeys: 1, maxKeys: 8 },
    );
    await fc.assert(
      fc.asyncProperty(files, async (content) => {
        using project = temporaryProject(content);
        const answer = await detect(project);
        expect(JSON.stringify(answer).length).toBeLessThan(ANSWER_BYTES);
        for (const { uri } of answer.entry_points) expect(uri.startsWith(project.uri(""))).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test.each(PIECES.map((piece) => [JSON.stringify(piece), piece]))(
    "%s over and over is parsed without delay",
    async (_, piece) => {
      const flood = (unit: string) => unit.repeat(FLOOD_BYTES / Buffer.byteLength(unit));
      using project = temporaryProject({ flood: flood(piece), "a/flood": flood(`${piece}\n`) });
      // Hard links instead of copies: these tests would write more than a gigabyte.
      for (const folder of [project.root, join(project.root, "a")]) {
        for (const name of MANIFESTS) linkSync(join(folder, "flood"), join(folder, name));
      }
      const start = process.cpuUsage();
      await detect(project);
      expect(process.cpuUsage(start).user).toBeLessThan(MAX_FLOOD_US);
    },
  );
});
