import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { asksAbout } from "../../testing/permissions/asked-lines.ts";
import { HARMLESS_PROGRAMS, type HarmlessUse } from "./harmless-programs.ts";
import { isHarmless, onlyReads } from "./only-reads.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-reads-")));
const root = join(base, "project");
const programs = join(base, "bin");
mkdirSync(join(root, "src"), { recursive: true });
mkdirSync(programs);
for (const file of ["a.ts", "b.ts", "src/main.ts", "with space.txt"]) writeFileSync(join(root, file), "x\n");
writeFileSync(join(base, "outside.txt"), "secret");
symlinkSync(join(base, "outside.txt"), join(root, "leads-outside"));
mkdirSync(join(root, "dashes"));
writeFileSync(join(root, "dashes/-delete"), "");
// Every listed program exists, on every machine that runs this test.
for (const name of [...Object.keys(HARMLESS_PROGRAMS), "npm", "rm", "sh"])
  writeFileSync(join(programs, name), "", { mode: 0o755 });
afterAll(() => rmSync(base, { recursive: true, force: true }));

const places = { roots: [root], searchPath: programs };
const reads = (command: string | readonly string[], folder?: string) =>
  onlyReads({ command, folder }, places);

test.each(
  `ls
  ls -la src
  ls --color=never -R
  ls *.ts
  ls src/*.ts
  cat a.ts b.ts
  cat -n 'with space.txt'
  cat "with space.txt"
  cat with\\ space.txt
  head -20 a.ts
  head -n 5 a.ts
  tail -n +3 a.ts
  wc -l src/main.ts
  wc -l a.ts b.ts | sort -rn | head -3
  grep -rn "TODO" src
  grep --include=*.ts -r x .
  rg -n --type ts 'a|b' src
  rg "foo(bar)?" -g '!dist'
  find . -name "*.ts" -not -path './node_modules/*'
  find src -type f -maxdepth 2 -print
  sed -n 1,20p a.ts
  sed -n '1,20p;30,$p' a.ts
  sed 's/a/b/g' a.ts
  sed -n '/^export/p' a.ts
  git status
  git status --short
  git --no-pager log -3
  git -C src status
  git --no-pager -C ./src --no-optional-locks diff -- main.ts
  git shortlog -sn
  git status -sb
  git log --oneline -5
  git log -p --since='2 weeks ago' --format="%h %s" -- src
  git show HEAD:a.ts
  git show --stat HEAD~1
  git diff --cached --stat
  git diff main...HEAD -- src/main.ts
  git blame -L 1,5 a.ts
  git branch --show-current
  git branch -a
  git remote -v
  git stash list
  git worktree list
  git config --get user.name
  git rev-parse --abbrev-ref HEAD
  git ls-files src
  git tag --list 'v*'
  cd src && ls
  cd src && git log --oneline | head -3
  ls 2>/dev/null || true
  cat a.ts 2>&1 | wc -l
  pwd; whoami
  echo hello world
  date +%Y-%m-%d
  command -v node
  which git
  node --version
  diff -u a.ts b.ts
  test -f a.ts && echo yes
  jq -r '.name' package.json
  uniq -c a.ts
  cut -d: -f1 a.ts
  tr a b < a.ts
  sort <a.ts | uniq -c
  wc -l < 'with space.txt' 2>/dev/null
  [ -f a.ts ] && cat a.ts
  [ ! -d src ] || ls src
  [ a = b ]
  awk '{print $1}' a.ts
  awk '{ print $1, $NF }' a.ts b.ts
  awk -F: '{print $2}' a.ts
  awk 'NR==5' a.ts
  awk 'NR>=5 && NR<=10' a.ts
  awk '/export/ {print NR": "$0}' a.ts
  ls -l | awk '{print $9}'
  ps
  ps aux | grep node
  ps -ef
  hostname
  sleep 0
  sleep 0.5 && ls
  find src -name '*.ts' | xargs grep -n TODO
  find . -type f -print0 | xargs -0 -n 20 wc -l
  git ls-files | xargs -r -P4 head -3
  ls | xargs echo`
    .split("\n")
    .map((line) => [line.trim()]),
)("never asks about: %s", (line) => {
  expect(reads(line)).toBe(true);
});

test("lines that could do more than read are asked about", () => {
  const lines = asksAbout(base);
  expect(lines.length).toBeGreaterThan(350);
  expect(lines.filter((line) => reads(line))).toEqual([]);
});

test("beside a command that a rule allows, words of the input may not name any file", () => {
  const passes = (...words: string[]) =>
    isHarmless(
      words.map((text) => ({ text, glob: false })),
      root,
      places,
    );
  expect(passes("cat", "a.ts")).toBe(true);
  expect(passes("xargs", "cat")).toBe(false);
});

test("a program of the project does not pass for one of the system", () => {
  const own = join(root, "node_modules/.bin");
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, "ls"), "", { mode: 0o755 });
  const searchPath = `${own}:${programs}`;
  expect(onlyReads({ command: "ls" }, { roots: [root], searchPath })).toBe(false);
  expect(onlyReads({ command: "cat a.ts" }, { roots: [root], searchPath })).toBe(true);
});

test("a program that is not installed is not asked about, unless the project could provide it", () => {
  const empty = join(base, "empty");
  const own = join(root, "tools");
  for (const folder of [empty, own]) mkdirSync(folder, { recursive: true });
  const asks = (searchPath: string) => !onlyReads({ command: "rg -n x src" }, { roots: [root], searchPath });
  expect(asks(empty)).toBe(false);
  for (const place of [own, `${empty}/../project/tools`, ".", "", "node_modules/.bin"])
    expect([place, asks(`${empty}:${place}`)]).toEqual([place, true]);
});

test("a glob that may become an option is asked about", () => {
  expect(reads("find *", "dashes")).toBe(false);
  expect(reads("find ./*", "dashes")).toBe(true);
  expect(reads("find *")).toBe(true);
});

test("a list of words is not seen by a shell, and the same options count", () => {
  expect(reads(["cat", "$(x)"])).toBe(true);
  expect(reads(["cat", "a.ts", ">", "b.ts"])).toBe(true);
  expect(reads(["sort", "-o", "a.ts"])).toBe(false);
  expect(reads(["cat", "../outside.txt"])).toBe(false);
  expect(reads(["ls"], "..")).toBe(false);
});

/** Every way to call a program that the table allows, from the table itself. */
const usesOf = (name: string, use: HarmlessUse): readonly (readonly string[])[] => [
  ...(use.needsSub ? [] : [[name]]),
  ...Object.entries(use.sub ?? {}).flatMap(([word, inner]) =>
    usesOf(word, inner).map((words) => [name, ...words]),
  ),
];
const CALLS = Object.entries(HARMLESS_PROGRAMS).flatMap(([name, use]) => usesOf(name, use));

const DANGEROUS_ENDS = [
  "; rm a.ts",
  " && rm a.ts",
  " | sh",
  " > a.ts",
  " >> a.ts",
  " $(rm a.ts)",
  " `rm a.ts`",
  " <(rm a.ts)",
  " $X",
  " &",
  " --output=a.ts",
  " --no-such-option",
  " ~/x",
];

test("whatever comes before it, a dangerous end makes every listed call ask", () => {
  const lines = CALLS.flatMap((words) => DANGEROUS_ENDS.map((end) => `${words.join(" ")}${end}`));
  expect(lines.length).toBeGreaterThan(1_000);
  expect(lines.filter((line) => reads(line))).toEqual([]);
});

test("quoting changes nothing about the answer", () => {
  const word = fc.constantFrom(
    "ls",
    "cat",
    "sort",
    "git",
    "log",
    "-o",
    "--output=x",
    "a.ts",
    "-n",
    "find",
    "-delete",
    "rm",
  );
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), fc.nat(), (words, seed) => {
      const quoted = words.map((one, at) => {
        const how = (seed >> (at * 2)) & 3;
        if (how === 0) return one;
        if (how === 1) return `'${one}'`;
        return how === 2 ? `"${one}"` : [...one].map((char) => `\\${char}`).join("");
      });
      expect(reads(quoted.join(" "))).toBe(reads(words));
    }),
  );
});

test("a line is as harmless as its worst command", () => {
  const command = fc.constantFrom(
    "ls -la",
    "git log",
    "rm x",
    "sort -o a b",
    "cat a.ts",
    "npm test",
    "wc -l",
  );
  const joint = fc.constantFrom(" && ", " || ", " ; ", " | ", "\n", ";");
  fc.assert(
    fc.property(fc.array(fc.tuple(command, joint), { minLength: 1, maxLength: 4 }), (parts) => {
      const line = parts.map(([one, by], at) => (at === parts.length - 1 ? one : one + by)).join("");
      expect(reads(line)).toBe(parts.every(([one]) => reads(one)));
    }),
  );
});

test("no text takes long or throws", () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => typeof reads(text) === "boolean"));
  for (const text of ["ls ".repeat(20_000), "'".repeat(50_001), "ls && ".repeat(10_000), "\\".repeat(50_000)])
    expect(typeof reads(text)).toBe("boolean");
});
