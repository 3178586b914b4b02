import { expect, test } from "vitest";
import { Hash, handle, newHandle, Range, Ref, SymbolId } from "./ids.ts";

test("handles sort by creation time and never repeat", () => {
  const made = Array.from({ length: 1000 }, (_, i) => newHandle("job", 1_790_000_000_000 + i));
  expect([...made].sort()).toEqual(made);
  expect(new Set(Array.from({ length: 1000 }, () => newHandle("proc", 5))).size).toBe(1000);
  for (const kind of ["job", "plan", "artifact"])
    expect(handle(kind).safeParse(newHandle(kind, Date.now())).success).toBe(true);
  for (const kind of ["", "Plan", "my_plan", "a.b"])
    expect(() => handle(kind)).toThrow("invalid handle kind");
  expect(handle("job").safeParse(newHandle("proc", 1)).success).toBe(false);
});

test("ids are accepted in one form only", () => {
  const hex = "0123456789abcdef".repeat(4);
  expect(Hash.safeParse(`sha256:${hex}`).success).toBe(true);
  for (const wrong of [
    hex,
    `sha256:${hex.slice(1)}`,
    `sha256:${hex.toUpperCase()}`,
    `sha1:${hex}`,
    `sha256:${hex}\n`,
  ])
    expect(Hash.safeParse(wrong).success).toBe(false);
  expect(Ref.safeParse(`blob:sha256:${hex}`).success).toBe(true);
  expect(Ref.safeParse(`stdout:${newHandle("proc", 1)}`).success).toBe(true);
  expect(Ref.safeParse(`memory:${newHandle("mem", 1)}`).success, "a scheme of a tool").toBe(true);
  for (const wrong of ["blob:../x", "C:\\x", `blob:sha256:${hex}/..`])
    expect(Ref.safeParse(wrong).success, wrong).toBe(false);
  expect(SymbolId.safeParse("sym:src/a.ts#Outer.inner").success).toBe(true);
  expect(Range.safeParse({ start: { line: -1, col: 0 }, end: { line: 0, col: 0 } }).success).toBe(false);
});
