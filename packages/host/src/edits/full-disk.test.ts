import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createBlobs } from "../blobs/blobs.ts";
import { createConfinement } from "../confinement.ts";
import { hashOf } from "../hashes.ts";
import { openStateFolder } from "../state.ts";
import { createEdits } from "./edits.ts";

let base: string;
let small: string;
let mounted = false;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-full-")));
  small = join(base, "small");
  mkdirSync(small);
  mounted = mount("-t", "tmpfs", "-o", "size=512k,nr_inodes=400", "tmpfs", small);
});
afterEach(() => {
  if (mounted) execFileSync("umount", [small]);
  rmSync(base, { recursive: true, force: true });
});

function mount(...args: string[]): boolean {
  try {
    execFileSync("mount", args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const OLD = "old\n".repeat(5_000);

/** How to make the small disk refuse and accept again, and the expected error. */
const TROUBLES = {
  "no space": {
    make: () => {
      const fd = openSync(join(small, "filler"), "w");
      try {
        for (;;) writeSync(fd, Buffer.alloc(1024));
      } catch {
        closeSync(fd);
      }
    },
    relieve: () => unlinkSync(join(small, "filler")),
    code: "NO_SPACE",
  },
  "no inodes": {
    make: () => {
      mkdirSync(join(small, "fillers"));
      try {
        for (let i = 0; ; i++) writeFileSync(join(small, "fillers", String(i)), "");
      } catch {}
    },
    relieve: () => rmSync(join(small, "fillers"), { recursive: true }),
    code: "NO_SPACE",
  },
  "read-only": {
    make: () => mount("-o", "remount,ro", small),
    relieve: () => mount("-o", "remount,rw", small),
    code: "ACCESS_DENIED",
  },
};

const CASES = [
  ["no space", "workspace"],
  ["no space", "state"],
  // In the state folder an edit needs no new file, so it does not notice when there can be none.
  ["no inodes", "workspace"],
  // The state folder holds an open file, so it cannot become read-only under our feet.
  ["read-only", "workspace"],
] as const;

test.each(CASES)(
  "%s in the %s: edits are refused, change nothing, and work again after",
  async (name, where) => {
    const trouble = TROUBLES[name];
    // Mounting needs a privilege that not every machine gives; CI has it.
    if (!mounted) return expect(process.env["CI"]).toBeUndefined();
    const root = join(where === "workspace" ? small : base, "ws");
    const stateHome = join(where === "state" ? small : base, "state");
    mkdirSync(root);
    for (const name of ["a", "b"]) writeFileSync(join(root, name), OLD);
    const confinement = createConfinement([root]);
    const warn = (message: string) => expect.unreachable(message);
    const state = openStateFolder({ roots: confinement.roots, env: { XDG_STATE_HOME: stateHome }, warn });
    const blobs = createBlobs(state.folder("blobs"));
    const edits = createEdits({ confinement, blobs, state, warn });
    await edits.create("warm-up", Buffer.from("up"));

    const base_hash = hashOf(Buffer.from(OLD));
    const update = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old\n+new\n`;
    const operations = [
      () => edits.apply({ base_hash, patch: update("a") }),
      () =>
        edits.apply({
          files: ["a", "b"].map((uri) => ({ uri, base_hash })),
          patch: update("a") + update("b"),
        }),
      () => edits.create("new/file", Buffer.alloc(20_000)),
    ];
    const snapshot = () =>
      readdirSync(root, { recursive: true, encoding: "utf8" })
        .sort()
        .map((name) => [name, name.startsWith("new") ? "" : readFileSync(join(root, name), "utf8")]);

    const before = snapshot();
    trouble.make();
    for (const operate of operations) {
      const error = await operate().then(
        () => "nothing",
        (cause: unknown) => cause,
      );
      expect(error).toMatchObject({ code: trouble.code });
      expect(snapshot()).toEqual(before);
    }
    trouble.relieve();
    await operations[1]!();
    await operations[2]!();
    expect(readFileSync(join(root, "a"), "utf8")).toMatch(/^new\nold\n/);
    await edits.close();
    blobs.close();
  },
);
