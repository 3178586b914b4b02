import type { CreateParser, Findings, Problem } from "../case.ts";

const MAX_DETAIL_CHARS = 16_384;

/** Parses the human-readable output of `cargo test`: stable for years, and stable Rust has no other format. */
export const createLibtestParser: CreateParser = (findings) => {
  /** Failures wait for their messages, which come after all tests of a program. */
  let failed = new Map<string, string>();
  let detailsOf: string | undefined;
  let open = 0;

  const flush = () => {
    for (const [name, output] of failed) report(findings, name, "fail", toProblem(output));
    failed = new Map();
    detailsOf = undefined;
  };

  return {
    line(line) {
      if (/^running \d+ tests?$/.test(line)) {
        open += 1;
        return;
      }
      if (line.startsWith("test result: ")) {
        open = Math.max(0, open - 1);
        return flush();
      }
      const [, heading] = /^---- (.+?) stdout ----$/.exec(line) ?? [];
      if (heading !== undefined && failed.has(heading)) {
        detailsOf = heading;
        return;
      }
      if (detailsOf !== undefined) {
        if (line === "failures:") detailsOf = undefined;
        else failed.set(detailsOf, `${failed.get(detailsOf)}${line}\n`.slice(0, MAX_DETAIL_CHARS));
        return;
      }
      const [, name, word] = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b/.exec(line) ?? [];
      if (name === undefined) return;
      if (word === "FAILED") failed.set(name, "");
      else report(findings, name, word === "ok" ? "pass" : "skip");
    },
    end() {
      flush();
      return open === 0;
    },
  };
};

function report(findings: Findings, id: string, outcome: "pass" | "fail" | "skip", problem?: Problem): void {
  const names = id.includes(" - ") ? [id] : id.split("::");
  findings.test({ name: names.at(-1) ?? id, suite: names.slice(0, -1), outcome, id, problem });
}

/** Since Rust 1.73 a panic prints its location before the message, earlier versions after it. */
function toProblem(output: string): Problem {
  const text = output.trim();
  const [, head, file, line, col] =
    /panicked at (?:'[\s\S]*?', )?(([^\s':][^\s:]*):(\d{1,9}):(\d{1,9}):?)/.exec(text) ?? [];
  const at = file === undefined ? undefined : { file, line: Number(line), col: Number(col) };
  return {
    message: (messageOf(text, head) || text || "the test failed without a message").trim(),
    stack: text || undefined,
    actual: sideOf(text, "left"),
    expected: sideOf(text, "right"),
    at,
  };
}

function messageOf(text: string, place: string | undefined): string | undefined {
  const before = /panicked at '([\s\S]*?)', [^\s']+:\d+:\d+/.exec(text)?.[1];
  if (before !== undefined || place === undefined) return before;
  const after = text.slice(text.indexOf(place) + place.length);
  const [message] = after.split(/\n(?:note: |stack backtrace:)/);
  return message;
}

/** `assert_eq!` prints both sides on separate lines. */
const sideOf = (text: string, side: "left" | "right"): string | undefined =>
  new RegExp(`^ {1,2}${side}: (.*)$`, "m").exec(text)?.[1]?.replace(/^`(.*)`(?:,|'.*)?$/, "$1");
