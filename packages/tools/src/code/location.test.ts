import type { Range } from "@octant/core";
import { createGrammars, findSymbols, languageOf } from "@octant/search";
import { expect, test } from "vitest";
import { orderFrom } from "./location.ts";

const TEXT = `class Cart:
    def total(self):
        return self.total()

    def show(self):
        return self.total()

def total():
    return total()
`;

const at = (line: number): Range => ({ start: { line, col: 8 }, end: { line, col: 9 } });

test("locations in the same class come first, then those in the same file and folder", async () => {
  const language = languageOf("cart.py");
  const symbols = language ? await findSymbols(createGrammars(), language, TEXT) : [];
  const order = await orderFrom(
    { sources: { symbols: async () => symbols } },
    { path: "/p/shop/cart.py", position: { line: 1, col: 8 } },
  );
  const places = [
    { path: "/p/a.py", range: at(0) },
    { path: "/p/shop/a.py", range: at(3) },
    { path: "/p/shop/a.py", range: at(0) },
    { path: "/p/shop/cart.py", range: at(8) },
    { path: "/p/shop/cart.py", range: at(5) },
  ];
  expect(places.toSorted(order)).toEqual([places[4], places[3], places[2], places[1], places[0]]);
});
