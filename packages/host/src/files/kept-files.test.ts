import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createConfinement } from "../confinement.ts";
import { createKeptFiles, type KeptFiles } from "./kept-files.ts";

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-kept-")));
  root = join(base, "ws");
  mkdirSync(join(root, "sub"), { recursive: true });
  writeFileSync(join(root, "sub", "a.txt"), "first");
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(base, { recursive: true, force: true });
});

const path = (name: string) => join(root, name);

function read(kept: KeptFiles, name: string): string {
  using file = kept.open(path(name));
  const bytes = Buffer.alloc(file.stat.size);
  return bytes.toString("utf8", 0, readSync(file.fd, bytes, 0, bytes.length, 0));
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (cause) {
    if (cause instanceof ToolError) return cause.code;
    throw cause;
  }
  return "none";
}

const openFiles = (): string[] =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.startsWith(root) ? [target] : [];
    } catch {
      // The descriptor that the folder was listed with.
      return [];
    }
  });

describe.each([
  ["with descriptor paths", true],
  ["by names", false],
])("files that were read before, %s", (_name, descriptorPaths) => {
  const start = () => {
    const kept = createKeptFiles(createConfinement([root], descriptorPaths));
    // Once to be known, once to be kept, once from what is kept.
    for (let n = 0; n < 3; n++) expect(read(kept, "sub/a.txt")).toBe("first");
    expect(openFiles()).toHaveLength(descriptorPaths ? 1 : 0);
    return kept;
  };

  test("are read as they are now: written, grown, replaced and removed", () => {
    const kept = start();
    writeFileSync(path("sub/a.txt"), "other");
    expect(read(kept, "sub/a.txt")).toBe("other");
    appendFileSync(path("sub/a.txt"), " and more");
    expect(read(kept, "sub/a.txt")).toBe("other and more");
    writeFileSync(path("new"), "replaced");
    renameSync(path("new"), path("sub/a.txt"));
    expect(read(kept, "sub/a.txt")).toBe("replaced");
    rmSync(path("sub/a.txt"));
    expect(codeOf(() => read(kept, "sub/a.txt"))).toBe("NOT_FOUND");
  });

  test("are refused once they are outside, be it the file or a folder above it", () => {
    const kept = start();
    renameSync(path("sub/a.txt"), join(base, "a.txt"));
    symlinkSync(join(base, "a.txt"), path("sub/a.txt"));
    expect(codeOf(() => read(kept, "sub/a.txt"))).toBe("OUTSIDE_WORKSPACE");

    writeFileSync(path("sub/b.txt"), "b");
    for (let n = 0; n < 3; n++) expect(read(kept, "sub/b.txt")).toBe("b");
    renameSync(path("sub"), join(base, "sub"));
    symlinkSync(join(base, "sub"), path("sub"));
    expect(codeOf(() => read(kept, "sub/b.txt"))).toBe("OUTSIDE_WORKSPACE");
  });

  test("are told by where they are, also when a folder above them was renamed inside", () => {
    const kept = start();
    renameSync(path("sub"), path("moved"));
    symlinkSync("moved", path("sub"));
    using file = kept.open(path("sub/a.txt"));
    expect(file.path).toBe(path("moved/a.txt"));
  });

  test("stay open for whoever reads them, and beyond that only a few do", () => {
    const kept = start();
    using first = kept.open(path("sub/a.txt"));
    for (let n = 0; n < 200; n++) {
      writeFileSync(path(`f${n}`), String(n));
      for (let times = 0; times < 3; times++) expect(read(kept, `f${n}`)).toBe(String(n));
    }
    const bytes = Buffer.alloc(5);
    readSync(first.fd, bytes, 0, 5, 0);
    expect(bytes.toString()).toBe("first");
    expect(openFiles().length).toBeLessThanOrEqual(65);
  });

  test("are closed when nobody has read them for a while", () => {
    vi.useFakeTimers();
    const kept = start();
    vi.advanceTimersByTime(20_000);
    expect(openFiles()).toEqual([]);
    expect(read(kept, "sub/a.txt")).toBe("first");
  });
});
