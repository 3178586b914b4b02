import { expect, test } from "vitest";
import { createSymbolNames } from "./symbol-names.ts";

function namesOf(...names: readonly string[]) {
  const list = createSymbolNames();
  for (const name of names) list.add(name);
  return list;
}

test("closest names come first: exact, prefix, word start, substring, letters in order", () => {
  const names = namesOf("reread", "fileReader", "Read", "readFile", "rXeXaXd", "bread", "write", "ready");
  expect([...names.matching("read")]).toEqual([
    ...["Read", "ready", "readFile", "fileReader", "bread", "reread", "rXeXaXd"],
  ]);
});

test("each name is listed once, and an empty query finds nothing", () => {
  const names = namesOf("open", "open", "größe", "a_b");
  expect([...names.matching("op")]).toEqual(["open"]);
  expect([...names.matching("")]).toEqual([]);
  expect([...names.matching("GRÖß")]).toEqual(["größe"]);
  expect([...names.matching("a_b")]).toEqual(["a_b"]);
});
