import { expect, test } from "vitest";
import { createGrammars } from "./grammars.ts";
import { bash } from "./languages/scripting.ts";
import { findSymbols } from "./symbols.ts";

const SCRIPT = `#!/bin/bash
VERSION=1.2

# Says what it was asked to say.
say() {
  local text=$1
  echo "$text"
}

function deploy-all {
  inner() { echo inner; }
  say "deploying"
}
one_line() { true; }
last()
(
  exit 1
)
`;

test("functions and variables of a script are found with their ranges, docs and bodies", async () => {
  const symbols = await findSymbols(createGrammars(), bash, SCRIPT);
  expect(symbols.map(({ path, kind, range }) => [path, kind, range.start.line, range.end.line])).toEqual([
    ["VERSION", "variable", 1, 1],
    ["say", "function", 4, 7],
    ["deploy-all", "function", 9, 12],
    ["deploy-all.inner", "function", 10, 10],
    ["one_line", "function", 13, 13],
    ["last", "function", 14, 17],
  ]);
  const say = symbols.find(({ name }) => name === "say");
  expect(say).toMatchObject({ doc: "Says what it was asked to say.", signature: "say()" });
  expect(SCRIPT.slice(say?.start, say?.end)).toMatch(/^say\(\) \{[\s\S]*\}$/);
});
