import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { REQUIREMENTS } from "./requirements.ts";

const ROOT = join(import.meta.dirname, "..");

test.each(REQUIREMENTS)("a test proves that $rule", ({ tests }) => {
  for (const cited of tests) {
    const [file = "", ...words] = cited.split(": ");
    expect(readFileSync(join(ROOT, file), "utf8"), cited).toContain(words.join(": "));
  }
});
