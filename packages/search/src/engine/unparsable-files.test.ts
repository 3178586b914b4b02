import { ToolError } from "@octant/core";
import { expect, test } from "vitest";
import { createUnparsableFiles } from "./unparsable-files.ts";

const tooSlow = () => Promise.reject(new ToolError("TIMEOUT", "too slow", { after_ms: 1 }));
const parsed = () => Promise.resolve("parsed");

test("a text that took too long is refused at once; another text of that file is parsed", async () => {
  const files = createUnparsableFiles();
  await expect(files.parse("a.rb", "(((", tooSlow)).rejects.toMatchObject({ code: "TIMEOUT" });
  await expect(files.parse("a.rb", "(((", parsed)).rejects.toMatchObject({
    code: "TIMEOUT",
    details: { after_ms: 1 },
  });
  expect(() => files.check("/project/a.rb", "(((")).toThrow("too slow");
  expect(await files.parse("a.rb", "()", parsed)).toBe("parsed");
  expect(await files.parse("a.py", "(((", parsed)).toBe("parsed");
});

test("a bug is not remembered", async () => {
  const files = createUnparsableFiles();
  await expect(files.parse("a.rb", "x", () => Promise.reject(new Error("bug")))).rejects.toThrow("bug");
  expect(await files.parse("a.rb", "x", parsed)).toBe("parsed");
});

test("only the newest hundred are remembered", async () => {
  const files = createUnparsableFiles();
  for (let n = 0; n <= 100; n++) await files.parse("a.rb", `(${n}`, tooSlow).catch(() => {});
  expect(await files.parse("a.rb", "(0", parsed)).toBe("parsed");
  expect(() => files.check("a.rb", "(1")).toThrow("too slow");
});
