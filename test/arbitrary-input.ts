import type { JsonSchema } from "@octant/core";
import fc from "fast-check";

/** Strings that have broken tools before, and names from the fixture project. */
const STRINGS = [
  "README.md",
  "src/main.ts",
  "src",
  ".",
  "",
  "/",
  "..",
  "../../etc/passwd",
  "/etc/passwd",
  "file:///etc/passwd",
  "file:///%00",
  "src/\0x",
  "-rf",
  "--pre=touch",
  "$(touch pwned)",
  "__proto__",
  "a\nb",
  "*",
  "**/*.ts",
  "[",
  "(((",
  "(a+)+$",
  "{",
  "\\",
  "\ud800",
  "é",
  "x".repeat(5000),
  `sha256:${"0".repeat(64)}`,
  `blob:sha256:${"0".repeat(64)}`,
  `stdout:proc_${"0".repeat(36)}`,
  "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n",
  "--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-# Demo\n+# Other\n",
  "@@ -1 +1 @@\n-x\n+y\n",
];

/** Arguments that mostly match a schema, and sometimes do not, like those of a confused model. */
export function arbitraryInput(schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    { arbitrary: fitting(schema), weight: 19 },
    { arbitrary: fc.object({ maxDepth: 2 }), weight: 1 },
  );
}

function fitting(schema: JsonSchema | boolean | undefined): fc.Arbitrary<unknown> {
  if (typeof schema !== "object") return fc.jsonValue();
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map(fitting));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum, "no such");
  switch (schema.type) {
    case "object":
      return objectOf(schema);
    case "array":
      return fc.array(fitting(schema.items as JsonSchema), { maxLength: 4 });
    case "integer":
    case "number":
      return fc.oneof(
        fc.integer({ min: 0, max: 50 }),
        fc.constantFrom(-1, 0.5, 2 ** 31, Number.MAX_SAFE_INTEGER),
      );
    case "boolean":
      return fc.boolean();
    case "string":
      return fc.oneof(fc.constantFrom(...STRINGS), fc.string(), fc.string({ unit: "binary" }));
    default:
      return fc.jsonValue();
  }
}

function objectOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const entries = Object.entries(schema.properties ?? {}).map(
    ([key, value]) => [key, fitting(value)] as const,
  );
  return fc.record(Object.fromEntries(entries), { requiredKeys: schema.required ?? [] });
}
