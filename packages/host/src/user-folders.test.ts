import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder } from "./user-folders.ts";

test("compiled code is kept in the person's cache folder, never in the project that a relative path leads to", () => {
  expect(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: "/caches" })).toBe("/caches/octant");
  expect(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: "node_modules" })).toBe("/home/me/.cache/octant");
  expect(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: "" })).toBe("/home/me/.cache/octant");
  expect(cacheFolder({})).toBe(join(homedir(), ".cache/octant"));
});
