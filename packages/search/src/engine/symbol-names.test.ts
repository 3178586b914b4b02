import { expect, test } from "vitest";
import { createSymbolNames } from "./symbol-names.ts";

const namesOf = (...names: readonly string[]) => createSymbolNames(names);

const matching = (names: ReturnType<typeof namesOf>, part: string) => [...names.matching(part)].flat();

test("closest names come first: exact, prefix, word start, substring, letters in order", () => {
  const names = namesOf("reread", "fileReader", "Read", "readFile", "rXeXaXd", "bread", "write", "ready");
  expect([...matching(names, "read")]).toEqual([
    ...["Read", "ready", "readFile", "fileReader", "bread", "reread", "rXeXaXd"],
  ]);
});

test("each name is listed once, and an empty query finds nothing", () => {
  const names = namesOf("open", "open", "größe", "a_b");
  expect([...matching(names, "op")]).toEqual(["open"]);
  expect([...matching(names, "")]).toEqual([]);
  expect([...matching(names, "GRÖß")]).toEqual(["größe"]);
  expect([...matching(names, "a_b")]).toEqual(["a_b"]);
});

test("a misspelt name matches before names that only share its letters", () => {
  const names = namesOf("parametrize", "parameterRaised", "ParseNetworkAddress", "getValue", "open");
  expect(matching(names, "parametrise")[0]).toBe("parametrize");
  expect(matching(names, "ParseNetwrokAdress")).toEqual(["ParseNetworkAddress"]);
  expect(matching(names, "getVlaue")).toEqual(["getValue"]);
  expect(matching(names, "opne"), "short names are too similar for this").toEqual([]);
});
