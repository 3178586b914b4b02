import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseFrontMatter } from "./front-matter.ts";

const fieldsOf = (head: string) => Object.fromEntries(parseFrontMatter(`---\n${head}\n---\nbody\n`).fields);

/** Heads as skills, commands and agents have them; a YAML library is the second source. */
const HEADS: readonly string[] = [
  "name: pdf\ndescription: Fills forms.",
  "name: \"quoted # name\"\ndescription: 'it''s fine'",
  "description: >\n  folded over\n  two lines\n\n  and a paragraph",
  "description: >-\n  folded\n  tight\nname: after",
  "description: |\n  kept\n    indented\n  lines",
  "description: plain text\n  goes on here\nname: x",
  "allowed-tools: [Read, Grep, Bash]",
  "allowed-tools: [\"Read\", 'Write']",
  "allowed-tools:\n  - Read\n  - Grep",
  "tools:\n- Read\n- Grep\nname: x",
  "name: x # a comment",
  'description: "tab\\tnew\\nline \\u00e9"',
];

test.each(HEADS)("a head reads as YAML reads it: %j", (head) => {
  const trimmed = (value: unknown) => (typeof value === "string" ? value.trim() : value);
  const expected = Object.entries(parse(head)).map(([key, value]) => [key, trimmed(value)]);
  expect(fieldsOf(head)).toEqual(Object.fromEntries(expected));
});

test("nested maps are left out, a colon in plain text stays, and the first of two equal keys counts", () => {
  expect(fieldsOf("metadata:\n  author: me\nname: x")).toEqual({ name: "x" });
  expect(fieldsOf("description: Use when: a file is a PDF")).toEqual({
    description: "Use when: a file is a PDF",
  });
  expect(fieldsOf("name: a\nname: b")).toEqual({ name: "a" });
});

test("anchors and aliases do not expand, and a huge head is not read", () => {
  const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", "b: &b [*a,*a,*a,*a,*a,*a,*a,*a]", "c: [*b,*b,*b,*b]"].join(
    "\n",
  );
  expect(JSON.stringify(fieldsOf(bomb)).length).toBeLessThan(2 * bomb.length);
  expect(fieldsOf(`name: x\ndescription: ${"y".repeat(20_000)}`)).toEqual({});
  expect(parseFrontMatter(`---\n${"[".repeat(100_000)}\n---\n`).fields.size).toBe(0);
  expect(parseFrontMatter(`---\n${"a: (".repeat(3_000)}\n---\n`).fields.size).toBe(1);
});

test("a body without a head, and line ends of Windows", () => {
  expect(parseFrontMatter("just text\n---\n")).toEqual({ fields: new Map(), body: "just text\n---\n" });
  expect(parseFrontMatter("---\r\nname: x\r\n---\r\nbody\r\n")).toEqual({
    fields: new Map([["name", "x"]]),
    body: "body\r\n",
  });
  expect(parseFrontMatter("---\n---\nbody").body).toBe("body");
});
