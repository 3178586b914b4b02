import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SymbolId } from "@octant/core";
import { createConfinement } from "@octant/host";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { parseSymbolId, toSymbolId } from "./position-input.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "octant-symbol-")));
const other = realpathSync(mkdtempSync(join(tmpdir(), "octant-symbol-")));
const confinement = createConfinement([root, other]);
afterAll(() => {
  for (const folder of [root, other]) rmSync(folder, { recursive: true });
});

const Name = fc.string({ minLength: 1, unit: "grapheme" }).filter((name) => !/[/\0]|^\.{1,2}$/.test(name));

test("an id leads back to its file and symbol, whatever their names", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(root, other),
      fc.array(Name, { minLength: 1, maxLength: 3 }),
      Name,
      (base, names, symbol) => {
        const path = join(base, ...names);
        const id = toSymbolId(confinement, path, symbol);
        expect(SymbolId.safeParse(id).success).toBe(true);
        expect(parseSymbolId(confinement, id)).toEqual({ path, symbol });
      },
    ),
  );
});

test("an id in the first root is relative to it", () => {
  expect(toSymbolId(confinement, join(root, "src/a b.ts"), "Outer.inner")).toBe(
    "sym:src/a%20b.ts#Outer.inner",
  );
});

test("an id that points outside the workspace is refused", () => {
  for (const id of ["sym:../x.ts#a", "sym:/etc/passwd#root"])
    expect(() => parseSymbolId(confinement, id)).toThrow(
      expect.objectContaining({ code: "OUTSIDE_WORKSPACE" }),
    );
});
