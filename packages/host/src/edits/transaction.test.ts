import fs, {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Blobs, createBlobs } from "../blobs/blobs.ts";
import { createConfinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { openStateFolder, type StateFolder } from "../state.ts";
import { type Disk, realDisk } from "./disk.ts";
import { createEdits, type Edits } from "./edits.ts";

/** Thousands of syncs are waited for here; in memory they cost nothing. */
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

let base: string;
let root: string;
let state: StateFolder;
let blobs: Blobs;

const warn = (message: string) => expect.unreachable(message);

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(MEMORY, "octant-transaction-")));
  root = join(base, "ws");
  restore();
  state = openStateFolder({ roots: [root], env: { XDG_STATE_HOME: join(base, "state") }, warn });
  blobs = createBlobs(state.folder("blobs"));
});
afterEach(() => {
  blobs.close();
  rmSync(base, { recursive: true, force: true });
});

const open = (disk: Disk = realDisk): Edits =>
  createEdits({ confinement: createConfinement([root]), blobs, state, warn, disk });

/** Everything that is in the workspace: names, modes, contents, numbers of links. */
const snapshot = () =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => {
      const stat = lstatSync(join(root, name));
      return [name, `${(stat.mode & 0o7777).toString(8)} ${contentOf(name, stat)}`];
    }),
  );

function contentOf(name: string, stat: fs.Stats): string {
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(join(root, name))}`;
  return stat.isFile() ? `${stat.nlink} ${readFileSync(join(root, name), "utf8")}` : "folder";
}

const ONE = hashOf(Buffer.from("one\n"));
const base_hash = ONE;
const update = (name: string) => `*** Update File: ${name}\n@@\n-one\n+two\n`;
const patchOf = (...parts: string[]) => `*** Begin Patch\n${parts.join("")}*** End Patch\n`;

/** One part of a git diff; null means that the side does not exist. */
function gitPart(name: string, mode: string, old: string | null, made: string | null): string {
  const [from, to] = [old === null ? "/dev/null" : `a/${name}`, made === null ? "/dev/null" : `b/${name}`];
  const kind = old === null ? `new file mode ${mode}` : made === null ? `deleted file mode ${mode}` : "";
  const end = mode === LINK ? "\\ No newline at end of file\n" : "";
  return [
    `diff --git a/${name} b/${name}\n${kind || `index 1..2 ${mode}`}\n--- ${from}\n+++ ${to}\n`,
    `@@ -${old === null ? "0,0" : 1} +${made === null ? "0,0" : 1} @@\n`,
    old === null ? "" : `-${old}\n${end}`,
    made === null ? "" : `+${made}\n${end}`,
  ].join("");
}
const [FILE, LINK, SUBMODULE] = ["100644", "120000", "160000"] as const;
const COMMIT = "Subproject commit 1";

const OPERATIONS: Record<string, (edits: Edits) => Promise<unknown>> = {
  "replace one file": (edits) => edits.apply({ base_hash, patch: patchOf(update("a.txt")) }),
  "create a file in new folders": (edits) => edits.create("new/deep/c.txt", Buffer.from("c")),
  "remove one file": (edits) => edits.remove("gone.txt", { confirm: true, recursive: false }),
  "write into a file with two names": (edits) =>
    edits.apply({ base_hash, patch: patchOf(update("linked.txt")) }),
  "make a link in new folders": (edits) =>
    edits.apply({ patch: gitPart("new/deep/link", LINK, null, "../../a.txt") }),
  "lead a link elsewhere": (edits) => edits.apply({ patch: gitPart("link", LINK, "a.txt", "sub") }),
  "remove a link": (edits) => edits.apply({ patch: gitPart("link", LINK, "a.txt", null) }),
  "make a submodule's folder": (edits) =>
    edits.apply({ patch: gitPart("new/module", SUBMODULE, null, COMMIT) }),
  "remove a submodule's folder": (edits) =>
    edits.apply({ patch: gitPart("module", SUBMODULE, COMMIT, null) }),
  "a set of links, folders and files": (edits) =>
    edits.apply({
      files: ["a.txt", "gone.txt"].map((uri) => ({ uri, base_hash })),
      patch: [
        gitPart("a.txt", FILE, "one", "two"),
        gitPart("gone.txt", FILE, "one", null),
        gitPart("gone.txt", LINK, null, "old.txt"),
        gitPart("link", LINK, "a.txt", null),
        gitPart("link", FILE, null, "now a file"),
        gitPart("sub/away", LINK, "nowhere", "../old.txt"),
        "diff --git a/sub/moved b/new/moved\nsimilarity index 100%\nrename from sub/moved\nrename to new/moved\n",
        gitPart("new/link", LINK, null, "../a.txt"),
        gitPart("module", SUBMODULE, COMMIT, null),
        gitPart("module", LINK, null, "sub"),
        gitPart("sub/module", SUBMODULE, null, COMMIT),
      ].join(""),
    }),
  "a set of everything": (edits) =>
    edits.apply({
      files: ["a.txt", "sub/b.txt", "gone.txt", "old.txt", "linked.txt"].map((uri) => ({ uri, base_hash })),
      patch: patchOf(
        update("a.txt"),
        "*** Add File: new/deep/c.txt\n+c\n",
        update("sub/b.txt"),
        "*** Delete File: gone.txt\n",
        "*** Update File: old.txt\n*** Move to: sub/renamed.txt\n@@\n-one\n+two\n",
        update("linked.txt"),
      ),
    }),
};

/** Lets the n-th system call fail, and only that one; or all from the n-th on, as if the process had died there. */
function failingDisk(nth: number, errno: string, forever = false): { disk: Disk; failed: () => boolean } {
  let calls = 0;
  const disk = { ...realDisk };
  for (const name of Object.keys(DISK_CALLS) as (keyof typeof DISK_CALLS)[]) {
    const real = fs[name] as (...args: unknown[]) => unknown;
    const failing = (...args: unknown[]) => {
      calls += 1;
      if (forever ? calls < nth : calls !== nth) return real(...args);
      // Whatever close returns, the descriptor is released.
      if (name === "closeSync") real(...args);
      throw Object.assign(new Error(`${errno}: injected into ${name}`), { code: errno, errno: -1 });
    };
    Object.assign(disk, { [name]: failing });
  }
  return { disk, failed: () => calls >= nth };
}

const DISK_CALLS = {
  closeSync: 0,
  fchmodSync: 0,
  fchownSync: 0,
  fdatasyncSync: 0,
  fstatSync: 0,
  fsyncSync: 0,
  ftruncateSync: 0,
  linkSync: 0,
  lstatSync: 0,
  mkdirSync: 0,
  openSync: 0,
  readFileSync: 0,
  readlinkSync: 0,
  readSync: 0,
  renameSync: 0,
  rmdirSync: 0,
  rmSync: 0,
  symlinkSync: 0,
  unlinkSync: 0,
  writeSync: 0,
} satisfies Partial<Record<keyof Disk, 0>>;

const FAILURES = [
  ["EIO", "IO_ERROR"],
  ["ENOSPC", "NO_SPACE"],
  ["EMFILE", "OVERLOADED"],
  ["EACCES", "ACCESS_DENIED"],
] as const;

/** Each pass gives every system call another one of the failures. */
const SHIFTS = process.env["FUZZ_RUNS"] ? FAILURES.map((_, shift) => shift) : [0];

describe.each(Object.entries(OPERATIONS))("%s", (_name, operate) => {
  test.each(SHIFTS)("whichever system call fails, nothing is changed (%i)", async (shift) => {
    const before = snapshot();
    for (let nth = 1; ; nth++) {
      const [errno, code] = FAILURES[(nth + shift) % FAILURES.length]!;
      const { disk, failed } = failingDisk(nth, errno);
      const edits = open(disk);
      const error = await operate(edits).then(
        () => undefined,
        (cause: unknown) => cause,
      );
      await edits.close();
      if (error === undefined) {
        // A call after the commit may fail: the change stands, and leftovers are removed next time.
        await open().recover();
        expect(snapshot()).not.toEqual(before);
        expect(temporaries()).toEqual([]);
        if (!failed()) break;
        restore();
        continue;
      }
      expect(error, `call ${nth}`).toBeInstanceOf(ToolError);
      expect(error, `call ${nth}`).toMatchObject({ code });
      expect(snapshot(), `call ${nth}`).toEqual(before);
    }
  });

  test("at whichever system call the process dies, the next one finds all old or all new", async () => {
    const before = snapshot();
    await operate(open());
    const after = snapshot();
    const outcomes = new Set<string>();
    for (let nth = 1; ; nth++) {
      restore();
      const { disk, failed } = failingDisk(nth, "EIO", true);
      await operate(open(disk)).catch(() => {});
      await open().recover();
      const found = snapshot();
      expect([before, after], `died at call ${nth}`).toContainEqual(found);
      outcomes.add(JSON.stringify(found));
      await open().recover();
      expect(snapshot()).toEqual(found);
      if (!failed()) break;
    }
    expect(outcomes.size).toBe(2);
  });

  test("a disk that accepts only a part of a write gets the rest", async () => {
    const disk: Disk = {
      ...realDisk,
      writeSync: ((fd: number, bytes: Uint8Array, offset: number, _length: number, position: number) =>
        fs.writeSync(fd, bytes, offset, 1, position)) as Disk["writeSync"],
    };
    const before = snapshot();
    await operate(open(disk));
    const short = snapshot();
    expect(short).not.toEqual(before);
    restore();
    await operate(open());
    expect(short).toEqual(snapshot());
  });
});

const temporaries = () => Object.keys(snapshot()).filter((name) => name.includes(".octant-"));

/** The workspace as every test finds it. */
function restore(): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "sub"), { recursive: true });
  writeFileSync(join(root, "a.txt"), "one\n", { mode: 0o640 });
  writeFileSync(join(root, "sub/b.txt"), "one\n");
  writeFileSync(join(root, "gone.txt"), "one\n");
  writeFileSync(join(root, "old.txt"), "one\n", { mode: 0o755 });
  writeFileSync(join(root, "linked.txt"), "one\n");
  linkSync(join(root, "linked.txt"), join(root, "sub/same.txt"));
  symlinkSync("a.txt", join(root, "link"));
  symlinkSync("nowhere", join(root, "sub/away"));
  symlinkSync("../a.txt", join(root, "sub/moved"));
  mkdirSync(join(root, "module"), { mode: 0o750 });
}

test("a concurrent writer during the edit is detected, and its content is preserved", async () => {
  const disk: Disk = {
    ...realDisk,
    fdatasyncSync: (fd) => {
      fs.fdatasyncSync(fd);
      writeFileSync(join(root, "a.txt"), "theirs\n");
    },
  };
  await expect(OPERATIONS["replace one file"]!(open(disk))).rejects.toMatchObject({
    code: "CONFLICT",
    details: { expected: ONE, actual: hashOf(Buffer.from("theirs\n")) },
  });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("theirs\n");
  expect(temporaries()).toEqual([]);
});

test("a concurrent creator of the file wins", async () => {
  const disk: Disk = {
    ...realDisk,
    linkSync: (from, to) => {
      if (!existsSync(join(root, "c.txt"))) writeFileSync(join(root, "c.txt"), "");
      fs.linkSync(from, to);
    },
  };
  await expect(open(disk).create("c.txt", Buffer.from("c"))).rejects.toMatchObject({
    code: "ALREADY_EXISTS",
  });
  expect(readFileSync(join(root, "c.txt"), "utf8")).toBe("");
  expect(temporaries()).toEqual([]);
});

test("where the file system has no hard links, all works the same", async () => {
  const noLinks: Disk = {
    ...realDisk,
    linkSync: () => {
      throw Object.assign(new Error("EPERM"), { code: "EPERM", errno: -1 });
    },
  };
  for (const operate of Object.values(OPERATIONS)) {
    restore();
    await operate(open(noLinks));
    const result = snapshot();
    restore();
    await operate(open());
    expect(result).toEqual(snapshot());
  }
});
