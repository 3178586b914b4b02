import { join } from "node:path";
import { expect, test } from "vitest";
import { asTyped, thisInstall } from "./person-command.ts";

test("this install is found", () => {
  expect(thisInstall().launcher).toBe(join(import.meta.dirname, "../bin/octant.js"));
});

test("messages name our commands as they can be typed here, and nothing else", () => {
  const io = { env: { PATH: "/nowhere" }, cwd: () => "/" };
  expect(
    asTyped("octant doctor and octant --help help; npx octant run, /x/octant run, octant is here", io),
  ).toBe(
    "npx -y @octant/cli doctor and npx -y @octant/cli --help help; npx octant run, /x/octant run, octant is here",
  );
});
