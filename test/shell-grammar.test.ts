import { createRequire } from "node:module";
import { beforeAll, expect, test } from "vitest";
import { Language, type Node, Parser } from "web-tree-sitter";
import { isRisky, mayContain, readCommands } from "../packages/runtime/src/permissions/commands.ts";
import { EVERYDAY, HOSTILE } from "./shell-lines.ts";

// Permissions are decided synchronously by a small reader of our own (docs/decisions/0014-policy.md); the grammar of
// bash, which code search uses, is its oracle: where ours is sure, it has to see exactly the same commands.

const parser: { parse(line: string): Node } = { parse: () => expect.unreachable("not loaded") };
beforeAll(async () => {
  await Parser.init();
  const bash = new Parser();
  bash.setLanguage(
    await Language.load(createRequire(import.meta.url).resolve("tree-sitter-bash/tree-sitter-bash.wasm")),
  );
  parser.parse = (line) => bash.parse(line)!.rootNode;
});

const LINES = [...new Set([...EVERYDAY, ...HOSTILE])];

test("where our reader is sure of a line, the grammar sees the same commands, and nothing but commands", () => {
  expect(LINES.length).toBeGreaterThan(600);
  let sure = 0;
  for (const line of LINES) {
    const ours = readCommands(line).map(({ words }) => words);
    if (ours.includes(undefined)) continue;
    sure += 1;
    const root = parser.parse(line);
    expect(root.hasError, line).toBe(false);
    expect(
      [...kindsIn(root)].filter((kind) => !UNDERSTOOD.has(kind)),
      line,
    ).toEqual([]);
    expect(
      root.descendantsOfType("command").map((node) => wordsOf(node!)),
      line,
    ).toEqual(ours);
  }
  expect(sure).toBeGreaterThan(100);
});

test("every command that the grammar sees is one that a deny rule on its name would find", () => {
  for (const line of LINES) {
    const root = parser.parse(line);
    if (root.hasError) continue;
    const ours = readCommands(line);
    for (const node of root.descendantsOfType("command")) {
      const [name] = wordsOf(node!);
      if (name === undefined || /[$`\\'"*?[\]]/.test(name)) continue;
      expect(
        ours.some((one) => mayContain(one, [name])),
        `${name} in ${line}`,
      ).toBe(true);
    }
  }
});

test("everyday lines get a rule, and no hostile line does", () => {
  const offersRule = (line: string) => !readCommands(line).some(isRisky);
  expect(EVERYDAY.filter((line) => !offersRule(line))).toEqual(["node --test"]);
  expect(HOSTILE.filter(offersRule)).toEqual([]);
});

/** The kinds of nodes that a sure line may consist of. */
const UNDERSTOOD = new Set(
  `program list pipeline command command_name word number string string_content raw_string redirected_statement
  file_redirect file_descriptor test_command variable_name && || ; | > >& " '`.split(/\s+/),
);

const kindsIn = (node: Node): Set<string> =>
  new Set([node.type.trim() || ";", ...node.children.flatMap((child) => [...kindsIn(child!)])]);

const wordsOf = (command: Node): readonly string[] =>
  command.children
    .filter((node) => node !== null && !/redirect/.test(node.type))
    .map((node) => node!.text.replaceAll(/^['"]|['"]$/g, ""));
