import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginsWith, mayContain, readCommand } from "./commands.ts";
import { parsePlainCommand, parseShell } from "./shell-words.ts";

const SYNTAX = [..."|&;<>()$`\\\"'*?[]{}#~!\n\r\0^=", "$(", "&&", "<<", "\u00a0"];
const piece = fc.oneof(
  fc.constantFrom("git", "status", " ", "\t", "a", "-x", "'", '"'),
  fc.constantFrom(...SYNTAX),
  fc.string({ maxLength: 3 }),
);

test("text with any sign of a shell outside whole quoted words never begins with what an allow rule names", () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.constantFrom(...SYNTAX),
      fc.nat(),
      (pieces, sign, at) => {
        const tail = pieces.toSpliced(at % (pieces.length + 1), 0, sign).join("");
        const bare = tail.replaceAll(/(?<=^|[ \t])(?:'[^'\r\n\0]*'|"[^"$`\\!\r\n\0]*")(?=[ \t]|$)/g, "");
        fc.pre(/[|&;<>()$`\\"'*?[\]{}#~!\n\r\0^\u00a0]/.test(bare));
        expect(beginsWith(readCommand(`git status ${tail}`), ["git", "status"])).toBe(false);
      },
    ),
  );
});

test("plain words equal the words of a real shell", () => {
  const word = fc.stringMatching(/^(?:[\w@%+:,./-]{1,6}|'[ \w$*;]{0,6}'|"[ \w*;']{0,6}")$/);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(" ", "\t", "  "),
      (words, blank) => {
        const text = `printf ${["%s\\n", ...words].map((one) => (one === "%s\\n" ? `'%s|'` : one)).join(blank)}`;
        const parsed = parsePlainCommand(text);
        const said = execFileSync("/bin/sh", ["-c", text], { encoding: "utf8" });
        expect(`${parsed?.slice(2).join("|")}|`).toBe(said);
      },
    ),
    { numRuns: 40 },
  );
});

test("every command that a real shell would start is among those that were read, or the text is unreadable", () => {
  const quoted = fc.constantFrom(
    "true",
    "'true'",
    't"ru"e',
    "\\true",
    "tr\\ue",
    "tru''e",
    "/bin/true",
    "command true",
  );
  const before = fc.constantFrom(
    "",
    "cd . && ",
    "x=1; ",
    "(",
    "if :; then ",
    "! ",
    ": | ",
    "2>/dev/null ",
    ": & ",
    ":\n",
  );
  fc.assert(
    fc.property(before, quoted, fc.constantFrom("", " -x", " 2>&1", "; :"), (start, program, rest) => {
      expect(mayContain(readCommand(start + program + rest), ["true"])).toBe(true);
    }),
  );
});

test("reading a shell text never throws and loses no plain word", () => {
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = pieces.join("");
      const commands = parseShell(text);
      const plain = parsePlainCommand(text);
      if (plain) expect(commands).toEqual([plain.map((one) => ({ text: one, glob: false }))]);
    }),
  );
});

test("text that a shell would read as more than a command and its words is not plain", () => {
  for (const text of ["X=1 git", "'git' status", "", "  ", "git\u00a0status", "git '", "git 'a'b"])
    expect(parsePlainCommand(text)).toBeUndefined();
  expect(parsePlainCommand(" git\t--a=b '' \"c d\" ")).toEqual(["git", "--a=b", "", "c d"]);
});

test("a glob that can be the program counts, one that cannot does not", () => {
  expect(mayContain(readCommand("/bin/r? x"), ["rm"])).toBe(true);
  expect(mayContain(readCommand("/bin/[r]m x"), ["rm"])).toBe(true);
  expect(mayContain(readCommand("r* x"), ["rm", "-rf"])).toBe(true);
  expect(mayContain(readCommand("ls *.ts"), ["rm"])).toBe(false);
});

test("scripts inside scripts are read, and at some depth taken for anything", () => {
  const nest = (depth: number): string => (depth === 0 ? "rm x" : `sh -c ${JSON.stringify(nest(depth - 1))}`);
  expect(mayContain(readCommand(nest(3)), ["rm"])).toBe(true);
  expect(mayContain(readCommand(nest(9)), ["rm"])).toBe(true);
});

test("a long text is read in no time", () => {
  const started = process.threadCpuUsage();
  for (const text of ["'".repeat(100_001), "a ".repeat(100_000), "\\".repeat(100_001), '"a'.repeat(50_001)])
    mayContain(readCommand(text), ["rm", "-rf"]);
  expect(process.threadCpuUsage(started).user).toBeLessThan(2_000_000);
});
