import { isUtf8 } from "node:buffer";
import { execFile } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { promisify } from "node:util";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { openRepository } from "../packages/tools/testing/vcs/open-repository.ts";

/** The number of histories; each starts where the previous one ended. */
const RUNS = Number(process.env["FUZZ_RUNS"] ?? 10);

const NAMES = [
  "a.txt",
  "b c.txt",
  "d/é.txt",
  "d/tab\there",
  'd/"quoted"',
  "new\nline",
  "😀.md",
  "bad\xff\xfe",
  "-dash",
  ":(top)colon",
  "x/y/z.bin",
  "*.star",
  "back\\slash",
].map((name) => Buffer.from(name, name.includes("\xff") ? "latin1" : "utf8"));

const lines = (from: number, to: number, eol: string) =>
  Array.from({ length: to - from }, (_, n) => `line ${from + n}${eol}`).join("");

const CONTENTS: readonly Buffer[] = [
  "",
  "one\n",
  "no newline at the end",
  lines(0, 40, "\n"),
  lines(0, 20, "\n") + lines(22, 40, "\n"),
  `${lines(0, 40, "\n")}and no newline`,
  lines(0, 12, "\r\n"),
  `${lines(0, 6, "\r\n")}${lines(6, 12, "\n")}`,
  "\ufeffwith a mark\nof byte order\n",
  "form\ffeed \u2028 and \u0085\n",
  "-- \n--- a/x\n+++ b/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n",
].map((text) => Buffer.from(text));
const BYTES = [
  Buffer.from("caf\xe9\nna\xefve\n", "latin1"),
  Buffer.from("caf\xe9\nnaive\n", "latin1"),
  Buffer.from([0, 1, 2, 3, 255, 254, 10, 0]),
  Buffer.concat([Buffer.alloc(3_000, 7), Buffer.from("end")]),
  Buffer.from("\ufeffutf-16\n", "utf16le"),
];

const name = fc.constantFrom(...NAMES);
const edit = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("write"), name, content: fc.constantFrom(...CONTENTS, ...BYTES) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remove"), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rename"), name, to: name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("mode"), name, mode: fc.constantFrom(0o644, 0o755) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("link"), name, target: fc.constantFrom("a.txt", "nowhere", "é") }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stage") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("commit") }) },
);
type Edit = Partial<{ name: Buffer; content: Buffer; to: Buffer; mode: number; target: string }> & {
  do: string;
};

const repository = openRepository({ inMemory: true });
const { top, git, ok } = repository;
afterAll(repository.close);
git("commit", "--quiet", "--allow-empty", "--message=start");

const at = (path: Buffer) => Buffer.concat([Buffer.from(`${top}/`), path]);
const kindAt = (path: Buffer) => lstatSync(at(path), { throwIfNoEntry: false });

function make({ do: what, name: path = Buffer.alloc(0), content, to, mode, target }: Edit): void {
  if (what === "stage") return void git("add", "--all");
  if (what === "commit") {
    git("add", "--all");
    return void git("commit", "--quiet", "--allow-empty", "--message=a step\n\nwith a body");
  }
  const stat = kindAt(path);
  if (what === "write" || what === "link") {
    mkdirSync(at(path.subarray(0, Math.max(0, path.lastIndexOf("/")))), { recursive: true });
    if (stat?.isSymbolicLink() || what === "link") rmSync(at(path), { force: true });
    if (what === "write") writeFileSync(at(path), content!);
    else symlinkSync(target!, at(path));
  }
  if (!stat) return;
  if (what === "remove") rmSync(at(path));
  if (what === "rename" && !kindAt(to!)) {
    mkdirSync(at(to!.subarray(0, Math.max(0, to!.lastIndexOf("/")))), { recursive: true });
    renameSync(at(path), at(to!));
  }
  if (what === "mode" && stat.isFile()) chmodSync(at(path), mode!);
}

/** Every file and link with its bytes, and whether it is executable. */
const snapshot = () =>
  NAMES.map((path) => {
    const stat = kindAt(path);
    const shown = path.toString("latin1");
    if (!stat) return `${shown}: none`;
    if (stat.isSymbolicLink()) return `${shown} -> ${readlinkSync(at(path))}`;
    return `${shown} ${(stat.mode & 0o100) !== 0}: ${readFileSync(at(path)).toString("latin1")}`;
  });

/** Git's own output; latin1 preserves every byte. */
async function gitSays(...args: string[]): Promise<string> {
  const env = { ...process.env, HOME: `${repository.base}/home` };
  return (await promisify(execFile)("git", args, { cwd: top, env, encoding: "latin1" })).stdout;
}

const toUri = (path: string) =>
  `file://${top}/${path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`)}`;

/** In git's oldest machine format. */
async function gitStatus(): Promise<string[]> {
  const said = await gitSays("status", "--porcelain=v1", "-z", "--untracked-files=normal");
  const records = said.split("\0").slice(0, -1);
  const rows: string[] = [];
  for (let n = 0; n < records.length; n++) {
    const [letters, path] = [records[n]!.slice(0, 2), toUri(records[n]!.slice(3)).replace(/\/$/, "")];
    const from = letters.includes("R") ? ` from ${toUri(records[++n]!)}` : "";
    rows.push(`${letters} ${path}${from}`);
  }
  return rows.sort();
}

const LETTERS: Readonly<Record<string, string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  type_changed: "T",
};

async function ourStatus(): Promise<string[]> {
  const { entries } = await ok("status", { limit: 10_000 });
  return entries
    .map(({ uri, kind, staged = "", unstaged = "", renamed_from }) => {
      const letters = kind === "untracked" ? "??" : `${LETTERS[staged] ?? " "}${LETTERS[unstaged] ?? " "}`;
      return `${letters} ${uri}${renamed_from ? ` from ${renamed_from}` : ""}`;
    })
    .sort();
}

const headersOf = (patch: string) => patch.match(/^diff --git .*$/gm);

test(
  `${RUNS} random histories: status, diff and log agree with git, and diff, reset, apply gives the same tree`,
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(edit, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        async (edits, staged) => {
          for (const path of NAMES) if (kindAt(path)) rmSync(at(path));
          git("reset", "--quiet", "--hard");
          for (const one of edits) make(one);
          const [ours, gits] = await Promise.all([ourStatus(), gitStatus()]);
          expect(ours).toEqual(gits);

          // Otherwise new files are only intended to be added: a diff does not show files unknown to git.
          git("add", ...(staged ? ["--all"] : ["--intent-to-add", "."]));

          const [{ commits }, log, { patch }, gitPatch] = await Promise.all([
            ok("log", { limit: 5 }),
            gitSays("log", "-z", "-n5", "--format=%H %B"),
            ok("diff", { ref: "HEAD", max_bytes: 1_000_000 }),
            gitSays("diff", "--binary", "--full-index", "HEAD"),
          ]);
          const messages = commits.map(({ hash, message }) => `${hash} ${message}`);
          expect(messages).toEqual(log.split("\0", commits.length).map((text) => text.trimEnd()));
          expect(headersOf(patch)).toEqual(headersOf(gitPatch));
          const bytes = Buffer.from(gitPatch, "latin1");
          if (isUtf8(bytes)) expect(patch).toBe(bytes.toString());

          const before = snapshot();
          git("reset", "--quiet", "--hard");
          if (patch !== "") await ok("apply", { patch, index: staged });
          expect(snapshot()).toEqual(before);
          // The staged changes are then the same: nothing differs from the files.
          if (staged) expect(await gitSays("diff", "--name-only")).toBe("");
        },
      ),
      { numRuns: RUNS },
    );
  },
  Math.max(120_000, RUNS * 1_000),
);
