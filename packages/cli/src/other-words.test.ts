import { expect, test } from "vitest";
import { hintForFlag, toOwnWords } from "./other-words.ts";

test.each([
  ["fix the bug", "chat|fix the bug"],
  ["fix the bug|-m|some", "chat|fix the bug|--model|some"],
  ["-c", "chat|--continue"],
  ["-r", "chat|/resume"],
  ["-r|ses_1", "chat|--resume|ses_1"],
  ["-p|say hi|--json", "run|say hi|--json"],
  ["--print|say hi", "run|say hi"],
  ["-c|-p|go on", "run|--continue|go on"],
  ["exec|say hi", "run|say hi"],
  ["resume", "chat|/resume"],
  ["resume|--last", "chat|--continue"],
  ["resume|ses_1", "chat|--resume|ses_1"],
  ["chat|--resume", "chat|/resume"],
  ["chat|--resume|--plain", "chat|--plain|/resume"],
])("octant %s means octant %s", (given, meant) => {
  expect(toOwnWords(given.split("|")).join("|")).toBe(meant);
});

test.each(["", "doctor", "chta", "call|fs.list|-c", "--version", "--model|x", "logout|-p", "run|--resume"])(
  "octant %s stays",
  (given) => {
    const words = given === "" ? [] : given.split("|");
    expect(toOwnWords(words)).toEqual(words);
  },
);

test("a flag that only other agents have is answered with ours", () => {
  expect(hintForFlag("dangerously-skip-permissions")).toContain("--mode");
  expect(hintForFlag("frobnicate")).toBeUndefined();
});
