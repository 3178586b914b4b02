import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openRepository } from "../packages/tools/testing/vcs/open-repository.ts";

/** The number of pairs of trees. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 10);

type Entry =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly executable: boolean }
  | { readonly kind: "link"; readonly target: Buffer }
  | { readonly kind: "submodule"; readonly commit: string; readonly checkedOut: boolean };

/** By name in Latin-1, which preserves every byte; none of them is below another. */
type Tree = Readonly<Record<string, Entry | null>>;

const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const NAMES = [
  "a.txt",
  "b c.txt",
  latin1("d/é.txt"),
  "d/tab\there",
  'd/"quoted"',
  "new\nline",
  "bad\xff\xfe",
  "x/y/z.bin",
  "modules/one",
];

const lines = (count: number, changed = -1) =>
  Array.from({ length: count }, (_, n) => `${n === changed ? "changed" : "line"} ${n}\n`).join("");
const CONTENTS = [
  Buffer.from(""),
  Buffer.from("one\n"),
  Buffer.from("a.txt"),
  Buffer.from(lines(40)),
  Buffer.from(lines(40, 20)),
  Buffer.from(`${lines(40)}no newline`),
  Buffer.from(lines(12).replaceAll("\n", "\r\n")),
  Buffer.from("caf\xe9\nna\xefve\n", "latin1"),
  Buffer.from([0, 1, 2, 3, 255, 254, 10, 0]),
  Buffer.concat([Buffer.alloc(3_000, 7), Buffer.from("end")]),
];
const TARGETS = ["a.txt", "nowhere/at all", "d", "é", "two\nlines", "newline\n"].map((text) =>
  Buffer.from(text),
);

const entry: fc.Arbitrary<Entry | null> = fc.oneof(
  { weight: 4, arbitrary: fc.constant(null) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("file" as const),
      bytes: fc.constantFrom(...CONTENTS),
      executable: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("link" as const),
      target: fc.constantFrom(...TARGETS, Buffer.from("caf\xe9", "latin1")),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("submodule" as const),
      commit: fc.constantFrom("1".repeat(40), "2".repeat(40)),
      checkedOut: fc.boolean(),
    }),
  },
);
const tree: fc.Arbitrary<Tree> = fc.record(Object.fromEntries(NAMES.map((name) => [name, entry])));

const repository = openRepository({ inMemory: true });
const { top, git } = repository;
afterAll(repository.close);
git("commit", "--quiet", "--allow-empty", "--message=start");

const at = (name: string) => Buffer.from(`${Buffer.from(top).toString("latin1")}/${name}`, "latin1");
const uriOf = (name: string) =>
  `file://${top}/${name.replace(/[^A-Za-z0-9\-._~/]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)}`;
const hashOf = (bytes: Buffer) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Writes exactly these files; `stage` updates the index too. */
function put(wanted: Tree): void {
  for (const name of namesIn(".")) if (name !== ".git") remove(name);
  for (const [name, one] of Object.entries(wanted)) {
    if (!one) continue;
    mkdirSync(at(dirname(name)), { recursive: true });
    if (one.kind === "link") symlinkSync(one.target, at(name));
    if (one.kind === "file") writeFileSync(at(name), one.bytes);
    if (one.kind === "file") chmodSync(at(name), one.executable ? 0o755 : 0o644);
  }
}

const namesIn = (folder: string) =>
  readdirSync(at(folder), { encoding: "buffer" }).map((name) => name.toString("latin1"));

/** By hand, since rmSync does not remove folders whose names are not UTF-8. */
function remove(name: string): void {
  if (!lstatSync(at(name)).isDirectory()) {
    unlinkSync(at(name));
    return;
  }
  for (const below of namesIn(name)) remove(`${name}/${below}`);
  rmdirSync(at(name));
}

function stage(wanted: Tree): void {
  put(wanted);
  git("add", "--all");
  const rows = Object.entries(wanted).map(([name, one]) =>
    one?.kind === "submodule" ? `160000 ${one.commit}\t${name}\0` : "",
  );
  execFileSync("git", ["update-index", "-z", "--index-info"], {
    cwd: top,
    input: Buffer.from(rows.join(""), "latin1"),
  });
}

/** Recreates a checkout of the tree. */
function checkOut(wanted: Tree): void {
  put(wanted);
  for (const [name, one] of Object.entries(wanted)) {
    if (one?.kind !== "submodule") continue;
    mkdirSync(at(name), { recursive: true });
    if (one.checkedOut) writeFileSync(at(`${name}/.git`), "gitdir: elsewhere\n");
  }
}

/** Every file and link with its bytes, whether it is executable, and the contents of each submodule folder. */
const snapshot = () =>
  NAMES.map((name) => {
    const stat = lstatSync(at(name), { throwIfNoEntry: false });
    if (!stat) return `${name}: none`;
    if (stat.isSymbolicLink())
      return `${name} -> ${readlinkSync(at(name), { encoding: "buffer" }).toString("latin1")}`;
    if (stat.isDirectory()) return `${name}: folder of ${readdirSync(at(name))}`;
    return `${name} ${(stat.mode & 0o100) !== 0}: ${readFileSync(at(name)).toString("latin1")}`;
  });

function gitApplies(patch: Buffer): boolean {
  try {
    execFileSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: top, input: patch, stdio: "pipe" });
    return true;
  } catch {
    return false;
  }
}

test(
  `${RUNS} pairs of random trees: fs.apply_patch makes of vcs.diff what git apply makes, and undo takes it back`,
  async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(tree, tree, async (from, to) => {
        stage(from);
        git("commit", "--quiet", "--allow-empty", "--message=from");
        stage(to);
        const { patch } = await repository.ok("diff", { staged: true, max_bytes: 1_000_000 });
        const gitPatch = execFileSync("git", ["diff", "--cached", "--binary", "--full-index", "-M"], {
          cwd: top,
        });
        fc.pre(patch !== "");

        checkOut(from);
        const fits = gitApplies(gitPatch);
        const expected = snapshot();

        checkOut(from);
        const before = snapshot();
        const files = Object.entries(from).flatMap(([name, one]) =>
          one?.kind === "file" ? [{ uri: uriOf(name), base_hash: hashOf(one.bytes) }] : [],
        );
        const answer = await repository.call("fs.apply_patch", { patch, files });
        // git stops midway where a submodule folder is not empty and something else should be there.
        if (!fits) {
          expect(answer).toMatchObject({ ok: false, error: { code: "ALREADY_EXISTS" } });
          expect(snapshot()).toEqual(before);
          return;
        }
        expect(answer).toMatchObject({ ok: true });
        expect(snapshot()).toEqual(expected);
        applied += 1;
        const { undo } = (answer as unknown as { data: { undo: string } }).data;
        expect(await repository.call("fs.apply_patch", { patch: undo })).toMatchObject({ ok: true });
        expect(snapshot()).toEqual(before);
      }),
      { numRuns: RUNS },
    );
    expect(applied).toBeGreaterThan(RUNS / 3);
  },
  Math.max(120_000, RUNS * 1_000),
);
