import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sharedCompileCache } from "../compile-cache.ts";

const FILES: Readonly<Record<string, string>> = {
  "README.md":
    "# Calculator\n\nParses and evaluates arithmetic.\n\n- `src/tokenize.js` splits the text\n- `src/parser.js` builds the tree\n",
  "package.json":
    '{\n  "name": "calculator",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  "src/tokenize.js": `/** Splits a text into numbers and operators. */
export function tokenize(text) {
  const tokens = [];
  for (const match of text.matchAll(/\\s*(\\d+(?:\\.\\d+)?|[-+*/()])/gy)) tokens.push(match[1]);
  return tokens;
}
`,
  "src/parser.js": `import { tokenize } from "./tokenize.js";

/** Parses an expression such as "1 + 2 * 3" into a tree. */
export function parse(text) {
  const tokens = tokenize(text);
  let position = 0;
  const next = () => tokens[position++];
  const peek = () => tokens[position];

  function term() {
    let left = factor();
    while (peek() === "*" || peek() === "/") left = { operator: next(), left, right: factor() };
    return left;
  }

  function factor() {
    return { value: Number(next()) };
  }

  let tree = term();
  while (peek() === "+" || peek() === "-") tree = { operator: next(), left: tree, right: term() };
  return tree;
}
`,
  "src/evaluate.js": `import { parse } from "./parser.js";

const OPERATORS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
};

/** The value of an expression. */
export function evaluate(text) {
  const valueOf = (node) =>
    node.operator ? OPERATORS[node.operator](valueOf(node.left), valueOf(node.right)) : node.value;
  return valueOf(parse(text));
}
`,
  "test/evaluate.test.js": `import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluate } from "../src/evaluate.js";

describe("evaluate", () => {
  test("adds", () => assert.equal(evaluate("1 + 2"), 3));
  test("multiplies first", () => assert.equal(evaluate("1 + 2 * 3"), 7));
  test("reads decimals", () => assert.equal(evaluate("0.5 * 4"), 2));
});

describe("errors", () => {
  test("an unfinished expression is refused", () => assert.throws(() => evaluate("1 +"), SyntaxError));
});
`,
};

export interface CalculatorProject extends Disposable {
  readonly root: string;
  /** The environment of a person with an empty home. */
  readonly env: NodeJS.ProcessEnv;
}

/** A small real project with a failing test, for the console's tests and pictures. */
export function createCalculatorProject(): CalculatorProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-console-")));
  const root = join(base, "calculator");
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root });
  git("init", "--quiet", "--initial-branch=main", "--template=");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.org");
  git("add", ".");
  git("commit", "--quiet", "--message=Parse and evaluate arithmetic");
  const env = {
    ...sharedCompileCache(),
    PATH: process.env["PATH"],
    HOME: join(base, "home"),
    XDG_STATE_HOME: join(base, "state"),
  };
  mkdirSync(env.HOME);
  return { root, env, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
}
