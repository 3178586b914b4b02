import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder } from "./user-folders.ts";

test("compiled code is cached in the person's cache folder, never in a project that a relative path points to", () => {
  expect(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: "/caches" })).toBe("/caches/octant");
  expect(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: "node_modules" })).toBe("/home/me/.cache/octant");
  expect(cacheFolder({ HOME: "/home/me", XDG_CACHE_HOME: "" })).toBe("/home/me/.cache/octant");
  expect(cacheFolder({})).toBe(join(homedir(), ".cache/octant"));
});
