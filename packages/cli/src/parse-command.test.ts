import { expect, test } from "vitest";
import { defineCommand, UsageError } from "./command.ts";
import { parseCommand } from "./parse-command.ts";

const command = defineCommand({
  name: "bake",
  summary: "For the test.",
  arguments: [{ name: "CAKE" }, { name: "TOPPING", many: true }],
  flags: {
    root: { summary: "Where", value: "DIR", many: true, env: "BAKE_ROOT" },
    mode: { summary: "How", value: "MODE", choices: ["slow", "fast"], env: "BAKE_MODE" },
    json: { summary: "As JSON" },
  },
  run: async () => 0,
});
const parse = (words: string, env = {}) => parseCommand(command, words.split(" ").filter(Boolean), env);

test("arguments and flags may be mixed, and absent flags have a value too", () => {
  expect(parse("--json carrot cream --mode=slow nuts")).toEqual({
    args: ["carrot", "cream", "nuts"],
    flags: { root: [], mode: "slow", json: true },
  });
  expect(parse("carrot").flags).toEqual({ root: [], mode: undefined, json: false });
});

test("after -- everything is an argument", () => {
  expect(parse("carrot -- --json").args).toEqual(["carrot", "--json"]);
});

test("an environment variable replaces an absent flag, and the flag wins", () => {
  const env = { BAKE_ROOT: "/a:/b", BAKE_MODE: "fast" };
  expect(parse("carrot", env).flags).toMatchObject({ root: ["/a", "/b"], mode: "fast" });
  expect(parse("carrot --root /c --root /d:e --mode slow", env).flags).toMatchObject({
    root: ["/c", "/d:e"],
    mode: "slow",
  });
  expect(parse("carrot", { BAKE_ROOT: "", BAKE_MODE: "" }).flags).toMatchObject({
    root: [],
    mode: undefined,
  });
});

test.each([
  ["", {}, "octant bake needs CAKE"],
  ["carrot --nope", {}, "unknown option '--nope'"],
  ["carrot --mode", {}, "option '--mode <value>' argument missing"],
  ["carrot --json=yes", {}, "option '--json' does not take an argument"],
  ["carrot --mode medium", {}, "--mode (or BAKE_MODE) is one of slow, fast, not 'medium'"],
  ["carrot", { BAKE_MODE: "medium" }, "--mode (or BAKE_MODE) is one of slow, fast, not 'medium'"],
])("'%s' with %j is wrong usage: %s", (words, env, message) => {
  expect(() => parse(words, env)).toThrow(new UsageError(message, "octant bake --help lists its options"));
});

test.each([
  ["CAKE", "unknown cake 'carot'", "cakes: carrot, plum. Did you mean 'carrot'?"],
  ["list|show", "octant bake does not take 'carot'", "it takes carrot, plum. Did you mean 'carrot'?"],
])("a word that %s does not offer is a usage error", (name, message, hint) => {
  const strict = { ...command, arguments: [{ name, kind: ["carrot", "plum"] }] };
  expect(() => parseCommand(strict, ["carot"], {})).toThrow(new UsageError(message, hint));
  expect(parseCommand(strict, ["plum"], {}).args).toEqual(["plum"]);
});

test("an extra argument is a usage error", () => {
  const plain = { ...command, arguments: [] };
  expect(() => parseCommand(plain, ["surplus"], {})).toThrow("octant bake does not take 'surplus'");
});
