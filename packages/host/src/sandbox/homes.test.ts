import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { homesOf } from "./homes.ts";

const home = realpathSync(mkdtempSync(join(tmpdir(), "octant-home-")));
afterAll(() => rmSync(home, { recursive: true }));

test.each([
  ["has no home in the user database", ""],
  ["has a recorded home that does not exist", join(home, "missing")],
])("a user who %s has the home of HOME alone, never the current folder", (_, recorded) => {
  expect(homesOf({ HOME: home }, recorded)).toEqual([home]);
});

test("the recorded home counts beside the one of HOME", () => {
  expect(homesOf({ HOME: home }, tmpdir())).toEqual([home, realpathSync(tmpdir())]);
});
