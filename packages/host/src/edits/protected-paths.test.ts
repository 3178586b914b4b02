import { ToolError } from "@octant/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkWritable, keepsTree, PROTECTED } from "./protected-paths.ts";

const ROOTS = ["/ws"];

const ruleFor = (path: string, roots = ROOTS): string | undefined => {
  try {
    checkWritable(roots, path);
    return undefined;
  } catch (error) {
    if (error instanceof ToolError && error.code === "PROTECTED_PATH")
      return (error as ToolError<"PROTECTED_PATH">).details.rule;
    throw error;
  }
};

const NAMES = PROTECTED.flatMap((rule) => rule.names);

test.each(NAMES)("%s is protected at the root, at any depth, and with all that is below it", (name) => {
  for (const path of [`/ws/${name}`, `/ws/a/b/${name}`, `/ws/${name}/x`, `/ws/a/${name}/x/y`])
    expect(ruleFor(path), path).toContain(name);
});

test.each([
  "/ws/.GIT/config",
  "/ws/.Git",
  "/ws/.gi\u200ct/hooks/x",
  "/ws/.git./config",
  "/ws/.git /config",
  "/ws/.v\u017fcode/settings.json",
  "/ws/.VSCODE/tasks.json",
])("another spelling of a protected name is protected too: %j", (path) => {
  expect(ruleFor(path)).toBeDefined();
});

test.each([
  "/ws/.gitignore",
  "/ws/.gitattributes",
  "/ws/.github/workflows/ci.yml",
  "/ws/git/config",
  "/ws/.env",
  "/ws/my.git/x",
  "/ws/bashrc",
  "/ws/src/.gitkeep",
  "/ws",
])("%s can be written", (path) => {
  expect(ruleFor(path)).toBeUndefined();
});

test("names of the folders that lead to the root do not count", () => {
  expect(ruleFor("/home/me/.vscode/ext/src/a.ts", ["/home/me/.vscode/ext"])).toBeUndefined();
});

test("a root inside a protected folder of another root does not open that folder", () => {
  expect(ruleFor("/ws/.git/hooks/x", ["/ws", "/ws/.git"])).toBeDefined();
});

test("one protected path among several is enough", () => {
  expect(() => checkWritable(ROOTS, "/ws/a", "/ws/.git/b")).toThrow(ToolError);
});

test("only repositories and the agent's own settings prevent the removal of a whole tree", () => {
  expect([".git", ".HANZO", ".vscode", "src"].map(keepsTree)).toEqual([true, true, false, false]);
});

test("no mix of upper and lower case gets past", () => {
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), fc.array(fc.boolean(), { maxLength: 20 }), (name, upper) => {
      const mixed = [...name].map((char, i) => (upper[i] ? char.toUpperCase() : char)).join("");
      expect(ruleFor(`/ws/${mixed}`)).toBeDefined();
    }),
  );
});
