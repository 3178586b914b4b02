import fc from "fast-check";
import { type ParseError, parse, visit } from "jsonc-parser";
import { expect, test } from "vitest";
import { ConfigProblem } from "./config-format.ts";
import { jsonc } from "./jsonc.ts";

const PATH = ["mcpServers", "octant"];
const FIELDS = { command: "/bin/node", args: ["octant.js", "serve"] };

test.each([
  [
    "a file that is not there yet",
    "",
    '{\n  "mcpServers": {\n    "octant": {\n      "command": "/bin/node",\n      "args": [\n        "octant.js",\n        "serve"\n      ]\n    }\n  }\n}\n',
  ],
  [
    "four blanks and a remark behind the last entry",
    '{\n    "mcpServers": {\n        "a": {} // mine\n    }\n}\n',
    '{\n    "mcpServers": {\n        "octant": {\n            "command": "/bin/node",\n            "args": [\n                "octant.js",\n                "serve"\n            ]\n        },\n        "a": {} // mine\n    }\n}\n',
  ],
  [
    "tabs, CRLF and a trailing comma",
    '{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t},\r\n}',
    '{\r\n\t"mcpServers": {\r\n\t\t"octant": {\r\n\t\t\t"command": "/bin/node",\r\n\t\t\t"args": [\r\n\t\t\t\t"octant.js",\r\n\t\t\t\t"serve"\r\n\t\t\t]\r\n\t\t},\r\n\t\t"a": {},\r\n\t},\r\n}',
  ],
  [
    "one line without blanks",
    '{"x":1,"mcpServers":{}}',
    '{"x":1,"mcpServers":{"octant": {"command":"/bin/node","args":["octant.js","serve"]}}}',
  ],
  [
    "nothing but a remark",
    "// settings\n",
    '// settings\n{\n  "mcpServers": {\n    "octant": {\n      "command": "/bin/node",\n      "args": [\n        "octant.js",\n        "serve"\n      ]\n    }\n  }\n}\n',
  ],
  [
    "an old entry with fields of the person",
    '{ "mcpServers": { "octant": { "command": "old", /* keep */ "env": { "A": "1" } } } }',
    '{ "mcpServers": { "octant": {"args": ["octant.js","serve"], "command": "/bin/node", /* keep */ "env": { "A": "1" } } } }',
  ],
])("an entry is put into %s", (_, before, after) => {
  expect(jsonc.set(before, PATH, FIELDS)).toBe(after);
  expect(jsonc.set(after, PATH, FIELDS)).toBe(after);
});

test.each([
  ["the only one", '{\n  "mcpServers": {\n    "octant": {}\n  }\n}\n', '{\n  "mcpServers": {\n  }\n}\n'],
  [
    "the last one, and the remark of the one before stays",
    '{ "mcpServers": {\n  "a": {}, // mine\n  "octant": {}\n} }',
    '{ "mcpServers": {\n  "a": {} // mine\n} }',
  ],
  [
    "one in the middle",
    '{ "mcpServers": {\n  "a": {},\n  "octant": {},\n  "b": {}\n} }',
    '{ "mcpServers": {\n  "a": {},\n  "b": {}\n} }',
  ],
  ["one on a line", '{"mcpServers":{"a":{},"octant":{},"b":{}}}', '{"mcpServers":{"a":{},"b":{}}}'],
  ["one with a trailing comma", '{"mcpServers":{"a":{}, "octant":{},}}', '{"mcpServers":{"a":{}, }}'],
  ["none", '{"mcpServers":{}}', '{"mcpServers":{}}'],
])("an entry is removed: %s", (_, before, after) => {
  expect(jsonc.remove(before, PATH)).toBe(after);
});

test.each([
  ['{\n  "a": 1,\n  b\n}', 3, 3],
  ['{ "mcpServers": [] }', 1, 17],
  ["[]", 1, 1],
  ['{ "mcpServers": {},\n  "mcpServers": {} }', 2, 3],
  ['{ "mcpServers": { "octant": "x" } }', 1, 29],
])("%j is refused with the place", (text, line, column) => {
  expect(() => jsonc.set(text, PATH, FIELDS)).toThrow(ConfigProblem);
  expect(() => jsonc.set(text, PATH, FIELDS)).toThrow(expect.objectContaining({ line, column }));
});

const blank = fc.array(fc.constantFrom(" ", "\n", "\r\n", "\t", "// c\n", "/* c */"), { maxLength: 3 });
/** Arbitrary JSON with a map of servers, with blanks and comments everywhere. */
const documents = fc
  .record({
    servers: fc.dictionary(
      fc.string({ maxLength: 4 }).filter((name) => name !== "octant"),
      fc.jsonValue({ maxDepth: 1 }),
      { maxKeys: 3, noNullPrototype: true },
    ),
    octant: fc.option(fc.constantFrom({}, { env: { A: "1" } }, { command: 1, args: null }), {
      nil: undefined,
    }),
    others: fc.dictionary(fc.constantFrom("x", "y"), fc.jsonValue({ maxDepth: 1 }), {
      noNullPrototype: true,
    }),
    hasServers: fc.boolean(),
    trailing: fc.boolean(),
    blanks: fc.infiniteStream(blank.map((parts) => parts.join(""))),
  })
  .map(({ servers, octant, others, hasServers, trailing, blanks }) => {
    const map = octant ? { ...servers, octant } : servers;
    const value = hasServers ? { ...others, mcpServers: map } : others;
    return write(value, () => blanks.next().value ?? "", trailing);
  });

function write(value: unknown, blank: () => string, trailing: boolean): string {
  if (typeof value !== "object" || value === null) return `${blank()}${JSON.stringify(value)}${blank()}`;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(
    ([name, item]) =>
      (isList ? "" : `${blank()}${JSON.stringify(name)}${blank()}:`) + write(item, blank, trailing),
  );
  const end = trailing && parts.length > 0 ? `,${blank()}` : blank();
  return `${blank()}${isList ? "[" : "{"}${parts.join(",")}${end}${isList ? "]" : "}"}${blank()}`;
}

function parsed(text: string): Record<string, Record<string, unknown>> {
  const errors: ParseError[] = [];
  const value = parse(text, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
}

function commentsIn(text: string): number {
  let count = 0;
  visit(text, { onComment: () => void count++ }, { allowTrailingComma: true });
  return count;
}

test("in any layout only the entry changes, every comment stays, and removing the entry restores the rest", () => {
  fc.assert(
    fc.property(documents, (before) => {
      const { mcpServers = {}, ...others } = parsed(before);
      const after = jsonc.set(before, PATH, FIELDS);
      const entry = { ...(mcpServers["octant"] as object), ...FIELDS };
      expect(parsed(after)).toEqual({ ...others, mcpServers: { ...mcpServers, octant: entry } });
      expect(commentsIn(after)).toBe(commentsIn(before));
      expect(jsonc.set(after, PATH, FIELDS)).toBe(after);

      const { octant: _, ...rest } = mcpServers;
      expect(parsed(jsonc.remove(after, PATH))).toEqual({ ...others, mcpServers: rest });
    }),
    { numRuns: 300 },
  );
});
