import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, inject, test } from "vitest";
import { type KeyCase, runRealVim } from "../testing/real-vim.ts";
import { createVimState, type VimState } from "./state.ts";
import { expirePending, pressKey } from "./vim.ts";
import { selection } from "./visual.ts";

const { cases } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../../vectors/vim-keys.json"), "utf8"),
) as { cases: (KeyCase & { id: string; expect: { text: string; cursor: [number, number] } })[] };

const NO_VIM = inject("missing").includes("vim");

function offsetOf(text: string, [row, column]: [number, number]): number {
  const lines = text.split("\n").slice(0, row);
  return lines.reduce((sum, line) => sum + line.length + 1, 0) + column;
}

function run({ text, cursor, keys }: KeyCase) {
  let state = createVimState(text, offsetOf(text, cursor), "normal");
  for (const key of [...keys, "Escape", "Escape"]) state = pressKey(state, key).state;
  const before = state.text.slice(0, state.cursor).split("\n");
  return { text: state.text, cursor: [before.length - 1, before.at(-1)?.length ?? 0] };
}

const type = (state: VimState, ...keys: string[]) =>
  keys.reduce((now, key) => pressKey(now, key).state, state);

describe("vim mode", () => {
  test.each(cases)("does what Vim does with $id", (one) => {
    expect(run(one)).toEqual(one.expect);
  });

  test.skipIf(NO_VIM)("the recorded outcomes are those of the Vim on this machine", () => {
    const outcomes = runRealVim(cases);
    expect(outcomes.map(({ text, cursor }) => ({ text, cursor }))).toEqual(cases.map((one) => one.expect));
  });

  test.skipIf(NO_VIM)("random sequences of edits leave the same text and cursor as in Vim", () => {
    const sample = fc.sample(arbitraryCase, { numRuns: 400, seed: 20261115 });
    const real = runRealVim(sample);
    for (const [i, one] of sample.entries()) {
      expect(run(one), `${one.keys.join(" ")} on ${JSON.stringify(one.text)}`).toEqual({
        text: real[i]?.text,
        cursor: real[i]?.cursor,
      });
    }
  });

  test("any keys leave a cursor inside the text", () => {
    const key = fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
      fc.constantFrom(
        ...'dcywbe$0^gGfFtTiaoxpPuJ~rvV:"1239.;,',
        "Escape",
        "Enter",
        "Ctrl-R",
        "Backspace",
        "Up",
        "Left",
      ),
    );
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(key, { maxLength: 30 }), (text, keys) => {
        const state = type(createVimState(text, 0, "normal"), ...keys);
        expect(state.cursor).toBeGreaterThanOrEqual(0);
        expect(state.cursor).toBeLessThanOrEqual(state.text.length);
      }),
      { numRuns: 300 },
    );
  });

  test("a half-typed command expires", () => {
    const waiting = type(createVimState("foo bar", 0, "normal"), "d");
    expect(waiting.pending).toEqual(["d"]);
    expect(type(expirePending(waiting), "w").text).toBe("foo bar");
  });

  test(":w sends, :q quits, :set changes an option and an unknown command lists the valid ones", () => {
    const after = (line: string) => {
      const typed = type(createVimState("x", 0, "normal"), ":", ...line);
      return pressKey(typed, "Enter").effect;
    };
    expect(after("w")).toEqual({ kind: "submit" });
    expect(after("q")).toEqual({ kind: "quit" });
    expect(after("set input_mode=emacs")).toEqual({ kind: "set", option: "input_mode=emacs" });
    expect(after("nope")).toMatchObject({
      kind: "message",
      text: expect.stringContaining("unknown command ':nope'"),
    });
  });

  test("visual mode shows the selection, both ends included", () => {
    const state = type(createVimState("foo bar", 0, "normal"), "v", "e");
    expect(selection(state)).toEqual({ start: 0, end: 3, linewise: false });
  });

  test("a change of visual mode is repeated on as much text", () => {
    const repeated = (verb: string) =>
      type(createVimState("foo bar", 0, "normal"), "v", "l", verb, "w", ".").text;
    expect(["~", "U", "d"].map(repeated)).toEqual(["FOo BAr", "FOo BAr", "o r"]);
  });

  test("a family emoji is one character", () => {
    expect(type(createVimState("a👨‍👩‍👧b", 1, "normal"), "x").text).toBe("ab");
  });
});

const pick = <T>(...values: T[]) => fc.constantFrom(...values);
const words = (keys: string) => [...keys];
const motion = pick(..."hjklwbe0$^GWBE", "gg", "2w", "fa", "t ", "Fo", "%", "{", "}", "ge", "_");
const typed = pick(["n", "e", "w"], ["q", "Enter", "z"], ["a", "b", "Backspace"]).map((keys) => [
  ...keys,
  "Escape",
]);
const arbitraryCommand = fc.oneof(
  motion.map(words),
  fc.tuple(pick("d", "y"), motion).map(([verb, to]) => words(verb + to)),
  fc
    .tuple(pick("dd", "yy", "x", "X", "D", "~", "rz", "gJ", "g~~"), pick("", "2"))
    .map(([verb, count]) => words(count + verb)),
  fc.tuple(pick("i", "a", "I", "A", "o", "O", "s"), typed).map(([verb, text]) => [verb, ...text]),
  fc
    .tuple(pick("v", "V"), motion, pick("d", "y", "~", "U"))
    .map(([mode, to, verb]) => [...words(mode + to + verb), "Escape"]),
);
const arbitraryCase: fc.Arbitrary<KeyCase> = fc
  .record({
    text: pick(
      "foo bar baz",
      "  hello, world(a, b) x",
      "one\ntwo three\n  four\n\nfive six",
      "aaa\nbbb\nccc\nddd",
      "naïve über 日本 語\nend",
    ),
    row: fc.nat(4),
    column: fc.nat(6),
    commands: fc.array(arbitraryCommand, { minLength: 1, maxLength: 4 }),
  })
  .map(({ text, row, column, commands }) => {
    const lines = text.split("\n");
    const at = Math.min(row, lines.length - 1);
    const last = Math.max((lines[at]?.length ?? 0) - 1, 0);
    return { text, cursor: [at, Math.min(column, last)], keys: commands.flat() };
  });
