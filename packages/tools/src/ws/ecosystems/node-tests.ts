import type { TestCommand } from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";
import type { NodeManager } from "./node-manager.ts";

interface Runner {
  readonly name: string;
  /** The dependency that provides it. */
  readonly dependency: string;
  /** The command that runs all tests once. */
  readonly command: readonly string[];
}

const RUNNERS: readonly Runner[] = [
  { name: "vitest", dependency: "vitest", command: ["vitest", "run"] },
  { name: "jest", dependency: "jest", command: ["jest"] },
  { name: "mocha", dependency: "mocha", command: ["mocha"] },
  { name: "ava", dependency: "ava", command: ["ava"] },
  { name: "tap", dependency: "tap", command: ["tap"] },
  { name: "jasmine", dependency: "jasmine", command: ["jasmine"] },
  { name: "karma", dependency: "karma", command: ["karma", "start", "--single-run"] },
  { name: "playwright", dependency: "@playwright/test", command: ["playwright", "test"] },
  { name: "cypress", dependency: "cypress", command: ["cypress", "run"] },
];

/** Runners without a dependency, recognised by the scripts that call them. */
const BUILT_IN = [
  { name: "node:test", pattern: /\b(?:node|tsx)\s(?:[^&|;]*\s)?--test(?![\w-])/ },
  { name: "bun test", pattern: /\bbun test\b/ },
  { name: "deno test", pattern: /\bdeno test\b/ },
];

/** Each runner with a script that calls it, or with its own command when no script does. */
export function nodeTests(
  manifest: Data,
  dependencies: ReadonlySet<string>,
  manager: NodeManager,
): TestCommand[] {
  const scripts = testScripts(manifest);
  const calling = (pattern: RegExp) => scripts.find(({ body }) => pattern.test(body));
  const tests: TestCommand[] = [];
  for (const { name, pattern } of BUILT_IN) {
    const script = calling(pattern);
    if (script) tests.push({ runner: name, command: [...manager.run, script.name] });
  }
  for (const { name, dependency, command } of RUNNERS) {
    const script = calling(new RegExp(`(?<![\\w-])${name}(?![\\w.-])`));
    if (!script && !dependencies.has(dependency)) continue;
    tests.push({
      runner: name,
      command: script ? [...manager.run, script.name] : [...manager.exec, ...command],
    });
  }
  const main = scripts.find(({ name }) => name === "test");
  const isCovered = tests.some(({ command }) => command.at(-1) === "test" && command[1] === manager.run[1]);
  if (main && !isCovered) tests.unshift({ runner: "script", command: [...manager.run, "test"] });
  return tests;
}

/** `test` first, then its variants in file order; the placeholder of `npm init` does not count. */
function testScripts(manifest: Data): { name: string; body: string }[] {
  const scripts = manifest.get("scripts");
  return scripts.keys
    .filter((name) => TEST_SCRIPT.test(name))
    .map((name) => ({ name, body: scripts.get(name).text ?? "" }))
    .filter(({ body }) => body !== "" && !body.includes("no test specified"))
    .sort((a, b) => Number(b.name === "test") - Number(a.name === "test"));
}

const TEST_SCRIPT = /^(test|tests|unit|e2e|integration)([:_-][\w.:-]+)?$/;
