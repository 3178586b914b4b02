import { type ChildProcessByStdio, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";

/** An ordinary user, and the owner of files in a shared folder; neither needs an entry in /etc/passwd. */
const [ME, OTHER] = [42_420, 42_421];

let base: string;
let root: string;
const undo: (() => void)[] = [];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-owner-")));
  root = join(base, "ws");
  mkdirSync(root);
  chmodSync(root, 0o777);
  chmodSync(base, 0o777);
  place("own", ME, 0o644);
  place("another", ME, 0o644);
});
afterEach(() => {
  for (const step of undo.splice(0).toReversed()) step();
  rmSync(base, { recursive: true, force: true });
});

function place(name: string, uid: number, mode: number, gid = uid): void {
  const path = join(root, name);
  writeFileSync(path, "one\n");
  chownSync(path, uid, gid);
  chmodSync(path, mode);
}

interface Answer {
  readonly outcomes: readonly string[];
  readonly warnings: readonly string[];
  readonly givenUp: readonly string[];
}

const ARGS = [join(import.meta.dirname, "../../testing/edits/ordinary-process.ts"), String(ME), String(ME)];
const requestOf = (names: readonly string[]) => `${[root, join(base, "state"), ...names].join("\t")}\n`;

let ordinary: ChildProcessByStdio<Writable, Readable, null> | undefined;
afterAll(() => void ordinary?.stdin.end());

/** Runs the edits in the ordinary user's process. Each request is like a new start of Octant. */
async function edit(...names: string[]): Promise<Answer> {
  ordinary ??= spawn(process.execPath, ARGS, { stdio: ["pipe", "pipe", "inherit"] });
  ordinary.stdin.write(requestOf(names));
  let said = "";
  while (!said.endsWith("\n")) said += (await once(ordinary.stdout, "data"))[0];
  return JSON.parse(said);
}

/** Runs one that dies in the middle of overwriting a file. */
const dieEditing = (name: string) =>
  spawnSync(process.execPath, [...ARGS, "dies"], { input: requestOf([name]) }).status;

const facts = () =>
  Object.fromEntries(
    readdirSync(root).map((name) => {
      const { uid, gid, mode, ino } = lstatSync(join(root, name));
      return [name, { uid, gid, mode, ino, text: readFileSync(join(root, name), "utf8") }];
    }),
  );

/** Makes the file special and returns what ends that. */
const attribute = (flag: string, path: string) => {
  execFileSync("chattr", [`+${flag}`, path]);
  undo.push(() => execFileSync("chattr", [`-${flag}`, path]));
};

interface Place {
  readonly make: () => void;
  /** What changes the content in place, and keeps owner, group, mode and inode. */
  readonly works: readonly string[];
  /** What is refused, with nothing changed. */
  readonly refused: readonly string[];
}

const EVERYTHING = ["change", "change two", "chmod", "remove"];

const PLACES: Record<string, Place> = {
  "a file of another owner that all may write": {
    make: () => place("file", OTHER, 0o666),
    works: ["change", "change and undo", "change two"],
    refused: ["chmod"],
  },
  "a file of another owner that my group may write": {
    make: () => place("file", OTHER, 0o664, ME),
    works: ["change", "change and undo", "change two"],
    refused: ["chmod"],
  },
  "a file of another owner in a sticky folder": {
    make: () => {
      chmodSync(root, 0o1777);
      place("file", OTHER, 0o666);
    },
    works: ["change", "change two"],
    refused: ["chmod", "remove"],
  },
  "my file with the group of others": {
    make: () => place("file", ME, 0o644, OTHER),
    works: ["change", "change two"],
    refused: [],
  },
  "my file in a folder that I cannot write": {
    make: () => {
      place("file", ME, 0o644);
      chmodSync(root, 0o755);
    },
    works: ["change", "change and undo", "change two"],
    refused: ["remove"],
  },
  "a file with set-id bits of another owner": {
    make: () => place("file", OTHER, 0o4777),
    works: [],
    refused: ["change", "change two", "chmod"],
  },
  "a file of another owner that I can only read": {
    make: () => place("file", OTHER, 0o644),
    works: [],
    refused: ["change", "change two", "chmod"],
  },
  "a read-only file in a folder that I can write": {
    make: () => place("file", ME, 0o444),
    works: [],
    refused: ["change", "change two"],
  },
  "an immutable file": {
    make: () => {
      place("file", ME, 0o644);
      attribute("i", join(root, "file"));
    },
    works: [],
    refused: EVERYTHING,
  },
  "an immutable file of another owner": {
    make: () => {
      place("file", OTHER, 0o666);
      attribute("i", join(root, "file"));
    },
    works: [],
    refused: EVERYTHING,
  },
  "a file that only grows, of another owner": {
    make: () => {
      place("file", OTHER, 0o666);
      attribute("a", join(root, "file"));
    },
    works: [],
    refused: EVERYTHING,
  },
  "a file that is a mount point": {
    make: () => {
      place("file", ME, 0o644);
      const path = join(root, "file");
      execFileSync("mount", ["--bind", path, path]);
      undo.push(() => execFileSync("umount", [path]));
    },
    works: [],
    refused: ["change", "remove"],
  },
  "a file mounted read-only": {
    make: () => {
      place("file", OTHER, 0o666);
      const path = join(root, "file");
      execFileSync("mount", ["--bind", path, path]);
      undo.push(() => execFileSync("umount", [path]));
      execFileSync("mount", ["-o", "remount,bind,ro", path]);
    },
    works: [],
    refused: EVERYTHING,
  },
};

// Only root can give files to others.
describe.skipIf(process.getuid?.() !== 0)("an ordinary user", () => {
  const cases = Object.entries(PLACES).flatMap(([where, { make, works, refused }]) => [
    ...works.map((what) => ({ where, make, what, ok: true })),
    ...refused.map((what) => ({ where, make, what, ok: false })),
  ]);
  test.each(cases)("$where: $what ($ok); the next edit works", async ({ make, what, ok }) => {
    make();
    const before = facts();
    const { outcomes, ...rest } = await edit(what, "change another");
    expect(outcomes).toEqual([ok ? "done" : expect.stringMatching(/^(ACCESS_DENIED|IO_ERROR): /), "done"]);
    expect(rest).toEqual({ warnings: [], givenUp: [] });
    const { own, another, file } = facts();
    expect(another).toMatchObject({ text: "two\n" });
    expect(own).toMatchObject({ text: ok && what === "change two" ? "two\n" : "one\n" });
    expect(file).toEqual({ ...before["file"], text: ok && what !== "change and undo" ? "two\n" : "one\n" });
    expect(readdirSync(root).sort()).toEqual(Object.keys(before).sort());
  });

  test.each([
    { owner: ME, advice: /chmod u\+w/ },
    { owner: OTHER, advice: /only its owner can change that/ },
  ])("a read-only file of $owner: the advice is one that works", async ({ owner, advice }) => {
    place("file", owner, 0o444);
    expect((await edit("change")).outcomes).toEqual([expect.stringMatching(advice)]);
  });

  test("a process that dies while it overwrites is recovered by the next one", async () => {
    place("file", OTHER, 0o666);
    const before = facts();
    expect(dieEditing("change")).toBe(9);
    expect(readFileSync(join(root, "file"), "utf8")).toBe("two\n");
    expect((await edit("nothing", "change another")).outcomes).toEqual(["done", "done"]);
    expect(facts()["file"]).toEqual(before["file"]);
  });

  test("an edit that cannot be recovered is abandoned, reported once and listed; other files can be edited", async () => {
    place("file", OTHER, 0o666);
    expect(dieEditing("change")).toBe(9);
    chmodSync(join(root, "file"), 0o644);
    const { outcomes, warnings, givenUp } = await edit("change another", "change two");
    const said = expect.stringMatching(
      /file could not be restored after an edit that failed \(EACCES\): fs\.read blob:sha256:\w+ has its old content; the record was moved to .*unfinished/,
    );
    expect(outcomes).toEqual([said, expect.stringMatching(/^(ACCESS_DENIED|CONFLICT)/)]);
    expect({ warnings, givenUp }).toEqual({ warnings: [said], givenUp: [said] });
    rmSync(join(root, "another"));
    place("another", ME, 0o644);
    expect(await edit("change another")).toEqual({ outcomes: ["done"], warnings: [], givenUp: [said] });
  });
});
