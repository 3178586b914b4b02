import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createConfinement } from "../confinement.ts";
import { comparePaths, fromNative, type Path } from "../path.ts";
import { createRipgrep, type Ripgrep, type TextPattern } from "./ripgrep.ts";
import { MAX_RIPGREP_BYTES } from "./ripgrep-watch.ts";

const { signal } = new AbortController();

let base: string;
let root: string;
let ripgrep: Ripgrep;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "octant-rg-")));
  root = join(base, "ws");
  mkdirSync(root);
  ripgrep = createRipgrep({ confinement: createConfinement([root]), env: {} });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const put = (name: string, content = "needle\n") => {
  mkdirSync(join(root, name, ".."), { recursive: true });
  writeFileSync(join(root, name), content);
};

const filesOf = async (options: Partial<Parameters<Ripgrep["files"]>[1]> = {}, folder = root) => {
  const paths: Path[] = [];
  for await (const batch of ripgrep.files(folder, { signal, ...options })) paths.push(...batch);
  return paths;
};
const names = async (options?: Partial<Parameters<Ripgrep["files"]>[1]>) =>
  (await filesOf(options)).map((path) => path.slice(root.length + 1));

const foundIn = async (pattern: TextPattern, order: "any" | "path" = "path") => {
  const paths: Path[] = [];
  for await (const batch of ripgrep.searchFolder(root, pattern, { order, signal }))
    for (const message of batch) if (message.kind === "begin") paths.push(message.path);
  return paths;
};

/** The ripgrep processes that this process started and that still run. */
const children = () =>
  readdirSync("/proc")
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        return stat.includes("(rg)") && Number(stat.split(") ")[1]?.split(" ")[1]) === process.pid;
      } catch {
        return false;
      }
    });

test("the version is reported with the path of the program", async () => {
  const { version, program } = await ripgrep.version();
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(existsSync(program)).toBe(true);
});

test("files and sorted searches come in the order of comparePaths, whatever the names", async () => {
  for (const name of [
    "a",
    "a-b/c",
    "a.b",
    "aa/b",
    "A",
    "b/a",
    "b/a.b/c",
    "b.a",
    "é/x",
    "e",
    "ﬁ",
    "😀",
    "n\nl",
    " ",
  ])
    put(name);
  for (const raw of [[0xff, 0x41], [0xc3], [0xed, 0xa0, 0x80]])
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(raw)]), "needle");
  const files = await filesOf();
  expect(files).toHaveLength(17);
  expect(files).toEqual([...files].sort(comparePaths));
  expect(files).toContain(fromNative(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff, 0x41)])));
  expect(await foundIn({ pattern: "needle" })).toEqual(files);
  expect((await foundIn({ pattern: "needle" }, "any")).sort(comparePaths)).toEqual(files);
});

test("ignore files are obeyed, hidden files are seen, .git is not, and globs narrow", async () => {
  execFileSync("git", ["init", "-q", root]);
  put(".gitignore", "*.log\n");
  for (const name of [".hidden", "a.log", "a.ts", "sub/b.ts", "sub/deep/c.ts"]) put(name);
  expect(await names()).toEqual([".gitignore", ".hidden", "a.ts", "sub/b.ts", "sub/deep/c.ts"]);
  expect(await names({ includeIgnored: true })).toContain("a.log");
  expect(await names({ globs: ["*.ts", "!deep"] })).toEqual(["a.ts", "sub/b.ts"]);
  expect(await names({ globs: ["**/.git/**", ".git"] })).toEqual([]);
});

test("a folder is searched where it was opened, and a link is not followed", async () => {
  mkdirSync(join(base, "out"));
  writeFileSync(join(base, "out", "secret"), "needle");
  put("in/a");
  symlinkSync(join(base, "out"), join(root, "link"));
  expect(await names()).toEqual(["in/a"]);
  await expect(filesOf({}, join(root, "link"))).rejects.toMatchObject({ code: "OUTSIDE_WORKSPACE" });
});

test.each([
  "--pre=touch pwned",
  "-f/etc/passwd",
  "--files",
  "--hostname-bin=touch",
  "$(touch pwned)",
  "`touch pwned`",
  "; touch pwned",
  "-",
  "--",
])("%j is a pattern and a glob, never an option or a command", async (attack) => {
  put("a", `x ${attack} y\n`);
  expect(await foundIn({ pattern: attack, fixed: true })).toEqual([join(root, "a")]);
  expect(await names({ globs: [attack] })).toEqual([]);
  expect(readdirSync(root)).toEqual(["a"]);
});

test("settings in the environment have no effect", async () => {
  put("a");
  const config = join(base, "ripgreprc");
  writeFileSync(config, `--pre=${join(base, "pre")}\n`);
  writeFileSync(join(base, "pre"), `#!/bin/sh\ntouch ${base}/pwned\n`);
  chmodSync(join(base, "pre"), 0o755);
  ripgrep = createRipgrep({
    confinement: createConfinement([root]),
    env: { RIPGREP_CONFIG_PATH: config, PATH: base },
  });
  expect(await foundIn({ pattern: "needle" })).toEqual([join(root, "a")]);
  expect(existsSync(join(base, "pwned"))).toBe(false);
});

test.each([
  [{ pattern: "a(b" }, "unclosed group"],
  [{ pattern: "a\nb" }, "\\n"],
  [{ pattern: "a\nb", fixed: true }, "\\n"],
  [{ pattern: "a\0b" }, "NUL"],
  [{ pattern: "\ud800" }, "half a character"],
  [{ pattern: "(?=a)" }, "look-around"],
  [{ pattern: "\\w{9999}{9999}" }, "size limit"],
])("the pattern %j is refused with the reason", async (pattern, reason) => {
  put("a");
  await expect(foundIn(pattern)).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringContaining(reason),
  });
});

test("a bad glob is refused, and one with a NUL too", async () => {
  await expect(names({ globs: ["["] })).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.not.stringContaining("pattern"),
    details: { issues: [{ path: "glob" }] },
  });
  await expect(names({ globs: ["a\0b"] })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("a missing or broken program is reported with what to do", async () => {
  const confinement = createConfinement([root]);
  const missing = createRipgrep({ confinement, locate: async () => join(base, "nowhere") });
  await expect(missing.version()).rejects.toMatchObject({
    code: "UNSUPPORTED",
    details: { what: "ripgrep" },
  });
  writeFileSync(join(base, "broken"), "no program");
  const broken = createRipgrep({ confinement, locate: async () => join(base, "broken") });
  await expect(broken.version()).rejects.toMatchObject({ code: "EXEC_FAILED" });
});

test("a crashed ripgrep is reported, and leaves nothing behind", async () => {
  const program = join(base, "dies");
  writeFileSync(program, "#!/bin/sh\nkill -9 $$\n");
  chmodSync(program, 0o755);
  const dies = createRipgrep({ confinement: createConfinement([root]), locate: async () => program });
  await expect(dies.version()).rejects.toMatchObject({ code: "EXEC_FAILED" });
});

test("pipes and unreadable files in the tree neither hang nor fail a search", async () => {
  put("a");
  execFileSync("mkfifo", [join(root, "pipe")]);
  put("closed");
  chmodSync(join(root, "closed"), 0);
  expect(await foundIn({ pattern: "needle" })).toContain(join(root, "a"));
});

test("a pipe in the place of an ignore file does not hang a search for long", async () => {
  put("a");
  execFileSync("mkfifo", [join(root, ".ignore")]);
  await expect(foundIn({ pattern: "needle" })).rejects.toMatchObject({
    code: "TIMEOUT",
    message: expect.stringContaining("pipe"),
  });
});

test("an ignore file without end, or a line with millions of matches, does not exhaust memory", async () => {
  const limited = { code: "LIMIT_EXCEEDED", details: { limit: MAX_RIPGREP_BYTES } };
  put("long", "a".repeat(50_000_000));
  await expect(foundIn({ pattern: "a" })).rejects.toMatchObject(limited);
  symlinkSync("/dev/zero", join(root, ".ignore"));
  await expect(names()).rejects.toMatchObject(limited);
  expect(children()).toEqual([]);
});

test("the person's own ignore file is obeyed", async () => {
  execFileSync("git", ["init", "-q", root]);
  for (const name of ["a", "b.mine"]) put(name);
  mkdirSync(join(base, "config/git"), { recursive: true });
  writeFileSync(join(base, "config/git/ignore"), "*.mine\n");
  ripgrep = createRipgrep({
    confinement: createConfinement([root]),
    env: { XDG_CONFIG_HOME: join(base, "config") },
  });
  expect(await names()).toEqual(["a"]);
});

test("leaving the loop or aborting kills the process, and it has exited when the loop has ended", async () => {
  // A search of /dev/zero would never end, but no folder leads there: many large files do.
  for (let i = 0; i < 40; i++) put(`f${i}`, "needle and thread\n".repeat(50_000));
  for await (const _ of ripgrep.searchFolder(root, { pattern: "." }, { order: "path", signal })) {
    expect(children()).toHaveLength(1);
    break;
  }
  expect(children()).toEqual([]);
  const giveUp = new AbortController();
  const search = (async () => {
    const options = { order: "any", signal: giveUp.signal } as const;
    for await (const _ of ripgrep.searchFolder(root, { pattern: "." }, options)) giveUp.abort();
  })();
  await expect(search).rejects.toMatchObject({ name: "AbortError" });
  expect(children()).toEqual([]);
});

test("a folder that is swapped after it was opened is still the one that is searched", async () => {
  put("in/a");
  mkdirSync(join(base, "out"));
  writeFileSync(join(base, "out", "secret"), "needle");
  const confinement = createConfinement([root]);
  const swapping = createRipgrep({
    confinement: {
      ...confinement,
      openFolder(path) {
        const folder = confinement.openFolder(path);
        renameSync(join(root, "in"), join(root, "moved"));
        symlinkSync(join(base, "out"), join(root, "in"));
        return folder;
      },
    },
  });
  const paths: Path[] = [];
  for await (const batch of swapping.files(join(root, "in"), { signal })) paths.push(...batch);
  expect(paths).toEqual([join(root, "in/a")]);
});
