import { execFileSync, spawn } from "node:child_process";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Confinement, createConfinement } from "./confinement.ts";

let base: string;
let root: string;
let secret: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-confine-")));
  root = join(base, "ws");
  secret = join(base, "ws-evil", "secret.txt");
  mkdirSync(join(root, "sub"), { recursive: true });
  mkdirSync(join(base, "ws-evil"));
  writeFileSync(secret, "SECRET");
  writeFileSync(join(root, "sub", "a.txt"), "inside");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof ToolError) return error.code;
    throw error;
  }
  return "none";
};

const open = (confinement: Confinement, uri: string): string => {
  using file = confinement.openFile(confinement.toPath(uri));
  return readFileSync(file.fd, "utf8");
};

describe.each([
  ["with descriptor paths", true],
  ["by names", false],
])("confinement %s", (_name, descriptorPaths) => {
  const confine = (...roots: string[]) => createConfinement(roots.length ? roots : [root], descriptorPaths);

  test("a file inside is opened by uri, by absolute path and by a path from the root", () => {
    for (const uri of [`file://${root}/sub/a.txt`, `${root}/sub/a.txt`, "sub/a.txt", "./sub/../sub//a.txt"])
      expect(open(confine(), uri)).toBe("inside");
  });

  test.each([
    "../ws-evil/secret.txt",
    "sub/../../ws-evil/secret.txt",
    "/etc/passwd",
    "file:///etc/passwd",
    "file:///%2e%2e/etc/passwd",
    "/",
    "..",
  ])("%s is outside", (uri) => {
    expect(codeOf(() => open(confine(), uri))).toBe("OUTSIDE_WORKSPACE");
  });

  test("a neighbour whose name starts with the root's name is outside", () => {
    expect(codeOf(() => open(confine(), secret))).toBe("OUTSIDE_WORKSPACE");
  });

  test("a link, a linked folder and a chain of links that lead out are refused, and the answer does not reveal the target", () => {
    symlinkSync(secret, join(root, "link"));
    symlinkSync(join(base, "ws-evil"), join(root, "folder"));
    symlinkSync("folder", join(root, "chain"));
    for (const uri of ["link", "folder/secret.txt", "chain/secret.txt", "folder/new.txt"]) {
      const confinement = confine();
      expect(codeOf(() => confinement.openFolder(confinement.toPath(uri.split("/")[0] as string)))).toMatch(
        /OUTSIDE|DIRECTORY|FOUND/,
      );
      expect(codeOf(() => open(confinement, uri))).toMatch(
        uri.endsWith("new.txt") ? /NOT_FOUND/ : /OUTSIDE_WORKSPACE/,
      );
    }
    expect(() => open(confine(), "link")).toThrow(/^(?!.*ws-evil).*outside the workspace/);
  });

  test("a link that stays inside is followed, and the real path is returned", () => {
    symlinkSync("sub/a.txt", join(root, "link"));
    using file = confine().openFile(join(root, "link"));
    expect(file.path).toBe(join(root, "sub/a.txt"));
  });

  test("a root given through a link is the real folder, under both names", () => {
    symlinkSync(root, join(base, "alias"));
    const confinement = confine(join(base, "alias"));
    expect(confinement.roots).toEqual([root]);
    expect(open(confinement, join(base, "alias", "sub/a.txt"))).toBe("inside");
    expect(open(confinement, join(root, "sub/a.txt"))).toBe("inside");
  });

  test("several roots are all inside, and relative paths start at the first", () => {
    const confinement = confine(root, join(base, "ws-evil"));
    expect(open(confinement, secret)).toBe("SECRET");
    expect(open(confinement, "sub/a.txt")).toBe("inside");
  });

  test("names with dots, newlines, spaces, percent signs and bytes that are not UTF-8 are found by their uri", () => {
    const names = [
      "..notup.txt",
      "...",
      "a\nb",
      "100% #1?.txt",
      " lead",
      "näme",
      "n\u0061\u0308me",
      "\udc00x".slice(1),
    ];
    for (const name of names) {
      writeFileSync(join(root, name), name);
      expect(open(confine(), `file://${root}/${encodeURIComponent(name)}`)).toBe(name);
    }
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff, 0x41)]), "raw");
    expect(open(confine(), `file://${root}/%FFA`)).toBe("raw");
  });

  test("pipes, sockets, devices and folders are refused at once", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    const server = createServer().listen(join(root, "socket"));
    await new Promise((done) => server.once("listening", done));
    for (const [uri, kind] of [
      ["pipe", "fifo"],
      ["socket", "socket"],
      ["sub", "directory"],
    ] as const) {
      const confinement = confine();
      expect(() => confinement.openFile(confinement.toPath(uri))).toThrow(
        expect.objectContaining({ code: "NOT_A_FILE", details: { uri: `file://${root}/${uri}`, kind } }),
      );
    }
    server.close();
  });

  test("a folder is created part by part, and never through a link that points outside", () => {
    const made: string[] = [];
    using folder = confine().makeFolder(join(root, "x/y/z"), made);
    expect(made).toEqual([join(root, "x"), join(root, "x/y"), join(root, "x/y/z")]);
    expect(folder.path).toBe(join(root, "x/y/z"));
    symlinkSync(join(base, "ws-evil"), join(root, "out"));
    expect(codeOf(() => confine().makeFolder(join(root, "out/new")))).toBe("OUTSIDE_WORKSPACE");
    expect(codeOf(() => confine().makeFolder(join(root, "sub/a.txt/new")))).toBe("NOT_A_DIRECTORY");
  });

  test("an excluded folder counts as outside, also through a link", () => {
    const confinement = confine();
    symlinkSync("sub", join(root, "link"));
    confinement.exclude(join(root, "sub"));
    for (const uri of ["sub/a.txt", "link/a.txt"])
      expect(codeOf(() => open(confinement, uri))).toBe("OUTSIDE_WORKSPACE");
    expect(codeOf(() => confinement.makeFolder(join(root, "sub/new")))).toBe("OUTSIDE_WORKSPACE");
    confinement.exclude(join(root, "future/cache"));
    using future = confinement.makeFolder(join(root, "future"));
    expect(future.path).toBe(join(root, "future"));
    expect(codeOf(() => confinement.makeFolder(join(root, "future/cache")))).toBe("OUTSIDE_WORKSPACE");
  });

  test("a folder can be excluded and hidden where this user cannot look", () => {
    const confinement = confine();
    symlinkSync("loop", join(root, "loop"));
    for (const path of [join(root, "sub/a.txt/cache"), join(root, "loop/cache")]) {
      confinement.exclude(path);
      confinement.hide([path]);
    }
    rmSync(join(root, "loop"));
    expect(codeOf(() => confinement.makeFolder(join(root, "loop/cache")))).toBe("OUTSIDE_WORKSPACE");
  });

  test("openEntry opens a link itself", () => {
    symlinkSync(secret, join(root, "link"));
    using entry = confine().openEntry(join(root, "link"));
    expect(entry.stat.isSymbolicLink()).toBe(true);
  });

  test("a circle of links and a missing file are NOT_FOUND", () => {
    symlinkSync("b", join(root, "a"));
    symlinkSync("a", join(root, "b"));
    expect(codeOf(() => open(confine(), "a"))).toBe("NOT_FOUND");
    for (const uri of ["nowhere/x", "a/x", "n".repeat(300), "x/".repeat(3000)])
      expect(codeOf(() => open(confine(), uri))).toBe("NOT_FOUND");
  });
});

test("a folder swapped for a link while we read never lets a byte from outside through", async () => {
  const READS = 20_000;
  mkdirSync(join(root, "real"));
  writeFileSync(join(root, "real", "secret.txt"), "inside");
  symlinkSync("real", join(root, "swap"));
  // Swaps the link between the inner and the outer folder as fast as it can, until it is killed.
  const swapper = spawn(process.execPath, ["-e", SWAPPER, root, join(base, "ws-evil")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((ready) => swapper.stdout.once("data", ready));
  const confinement = createConfinement([root]);
  const seen: Record<string, number> = {};
  for (let i = 0; i < READS; i++) {
    let what: string;
    try {
      what = open(confinement, "swap/secret.txt");
    } catch (error) {
      what = error instanceof ToolError ? error.code : String(error);
    }
    seen[what] = (seen[what] ?? 0) + 1;
  }
  swapper.kill("SIGKILL");
  expect(Object.keys(seen).sort()).toEqual(expect.arrayContaining(["OUTSIDE_WORKSPACE", "inside"]));
  expect(seen["SECRET"]).toBeUndefined();
});

const SWAPPER = `
const { renameSync, symlinkSync } = require("node:fs");
const [root, out] = process.argv.slice(1);
process.stdout.write("ready");
for (let i = 0; ; i++) {
  symlinkSync(i % 2 ? "real" : out, root + "/next");
  renameSync(root + "/next", root + "/swap");
}`;

test("a file that is moved out after it was pinned is still the file that was checked", () => {
  const confinement = createConfinement([root]);
  using file = confinement.openFile(join(root, "sub/a.txt"));
  renameSync(join(root, "sub"), join(base, "moved"));
  expect(readFileSync(file.fd, "utf8")).toBe("inside");
});

test("a hard link counts as inside: the system does not record its other names", () => {
  linkSync(secret, join(root, "hard"));
  expect(open(createConfinement([root]), "hard")).toBe("SECRET");
});

test("a root that is missing or no folder is refused", () => {
  expect(codeOf(() => createConfinement([join(base, "nowhere")]))).toBe("NOT_FOUND");
  expect(codeOf(() => createConfinement([secret]))).toBe("NOT_A_DIRECTORY");
});

test("further folders can be allowed, or be all that is allowed", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-allowed-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const name of ["root/src", "root/docs", "more"]) mkdirSync(join(base, name), { recursive: true });
  const open = () => createConfinement([join(base, "root")]);

  const wider = open();
  wider.allow([join(base, "more")], false);
  expect(wider.toPath(join(base, "more/x"))).toBe(join(base, "more/x"));
  expect(wider.start).toBe(join(base, "root"));

  const only = open();
  only.allow([join(base, "root/src")], true);
  expect(only.toPath("src/x")).toBe(join(base, "root/src/x"));
  expect(() => only.toPath("docs/x")).toThrow(expect.objectContaining({ code: "OUTSIDE_WORKSPACE" }));
  expect(only.start).toBe(join(base, "root/src"));
});
