import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMarkdown } from "./parse.ts";
import { type Block, type Inline, textOf } from "./tree.ts";

const text = (value: string) => ({ type: "text", text: value });
const paragraph = (...content: object[]) => ({ type: "paragraph", content });

test.each<[string, object[]]>([
  ["one\ntwo\n\nthree", [paragraph(text("one\ntwo")), paragraph(text("three"))]],
  ["## Title ##", [{ type: "heading", level: 2, content: [text("Title")] }]],
  ["```ts\nlet a = 1;\n```", [{ type: "code", language: "ts", text: "let a = 1;" }]],
  ["~~~\nopen", [{ type: "code", language: "", text: "open" }]],
  [
    "a **b *c* d** e",
    [
      paragraph(
        text("a "),
        { type: "strong", content: [text("b "), { type: "emphasis", content: [text("c")] }, text(" d")] },
        text(" e"),
      ),
    ],
  ],
  ["snake_case_name and 2 * 3 * 4", [paragraph(text("snake_case_name and 2 * 3 * 4"))]],
  [
    "`a **b**` ``c`d``",
    [paragraph({ type: "code", text: "a **b**" }, text(" "), { type: "code", text: "c`d" })],
  ],
  ["\\*not\\* ~~gone~~", [paragraph(text("*not* "), { type: "strike", content: [text("gone")] })]],
  ["---", [{ type: "rule" }]],
  ["> quoted\n> more", [{ type: "quote", blocks: [paragraph(text("quoted\nmore"))] }]],
  ["<b onclick=alert(1)>x</b>", [paragraph(text("<b onclick=alert(1)>x</b>"))]],
])("%j becomes our own tree", (markdown, tree) => {
  expect(parseMarkdown(markdown)).toEqual(tree);
});

test("lists nest, count and have tasks", () => {
  expect(parseMarkdown("3. first\n4. second\n   - [x] done\n   - [ ] open\n\nafter")).toEqual([
    {
      type: "list",
      ordered: true,
      start: 3,
      items: [
        { blocks: [paragraph(text("first"))] },
        {
          blocks: [
            paragraph(text("second")),
            {
              type: "list",
              ordered: false,
              start: 1,
              items: [
                { checked: true, blocks: [paragraph(text("done"))] },
                { checked: false, blocks: [paragraph(text("open"))] },
              ],
            },
          ],
        },
      ],
    },
    paragraph(text("after")),
  ]);
});

test("tables have a cell per column, also in short rows", () => {
  const [table] = parseMarkdown("| file | change |\n|---|---|\n| a.ts | types |\n| b.ts |");
  expect(table).toEqual({
    type: "table",
    head: [[text("file")], [text("change")]],
    rows: [
      [[text("a.ts")], [text("types")]],
      [[text("b.ts")], []],
    ],
  });
});

test.each([
  ["[site](https://example.org/a?b=1)", "https://example.org/a?b=1", "site"],
  ["see https://example.org/x.", "https://example.org/x", "https://example.org/x"],
  ["![a picture](http://example.org/p.png)", "http://example.org/p.png", "a picture"],
])("%j is a link to a web address", (markdown, href, label) => {
  const link = linksIn(parseMarkdown(markdown))[0];
  expect(link).toMatchObject({ href, host: "example.org" });
  expect(textOf(link!.content)).toBe(label);
});

test.each([
  "[x](javascript:alert(1))",
  "[x](data:text/html,hi)",
  "[x](file:///etc/passwd)",
  "[x](//evil.example)",
  "![x](blob:1)",
  "[x](vbscript:x)",
])("%j stays text", (markdown) => {
  expect(linksIn(parseMarkdown(markdown))).toEqual([]);
});

const MARKUP = fc.constantFrom(
  "*",
  "**",
  "_",
  "~~",
  "`",
  "```",
  "\n",
  "\n\n",
  "- ",
  "1. ",
  "> ",
  "# ",
  "|",
  "|-|",
  "[",
  "](",
  ")",
  "![",
  "\\",
  "<",
  "javascript:",
  "https://a.b/",
  "    ",
  "word",
);

test("any text parses, keeps its words in order and links only to web addresses", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(MARKUP, fc.string({ maxLength: 6 })), { maxLength: 60 }), (parts) => {
      const markdown = parts.join("");
      const blocks = parseMarkdown(markdown);
      for (const { href } of linksIn(blocks)) expect(new URL(href).protocol).toMatch(/^https?:$/);
      const count = (haystack: string) => haystack.split("word").length;
      // A table's rows are cut to its columns, and a fence's first word is its language.
      if (!/\||`|~/.test(markdown) && !markdown.includes("]("))
        expect(count(allText(blocks))).toBe(count(markdown));
    }),
    { numRuns: 500 },
  );
});

test("long runs of every delimiter take linear time", () => {
  for (const unit of [
    "*",
    "_a",
    "`",
    "[",
    "![",
    "](",
    "[a](",
    "> ",
    "- ",
    "**a",
    "|",
    "a|\n-|\n",
    "\\",
    "~~",
    "` `` ",
    "<https://",
  ]) {
    const steps = (count: number) => {
      const before = process.cpuUsage().user;
      parseMarkdown(unit.repeat(count));
      return process.cpuUsage().user - before;
    };
    steps(1_000);
    expect(steps(40_000), unit).toBeLessThan(3_000_000);
  }
});

function linksIn(blocks: readonly Block[]): Extract<Inline, { type: "link" }>[] {
  return blocks.flatMap(inlinesIn).flatMap(function find(node): Extract<Inline, { type: "link" }>[] {
    if (node.type === "link") return [node, ...node.content.flatMap(find)];
    return "content" in node ? node.content.flatMap(find) : [];
  });
}

function inlinesIn(block: Block): readonly Inline[] {
  if (block.type === "heading" || block.type === "paragraph") return block.content;
  if (block.type === "quote") return block.blocks.flatMap(inlinesIn);
  if (block.type === "list") return block.items.flatMap((item) => item.blocks.flatMap(inlinesIn));
  if (block.type === "table") return [...block.head.flat(), ...block.rows.flat(2)];
  return [];
}

const allText = (blocks: readonly Block[]): string =>
  blocks.map((block) => (block.type === "code" ? block.text : textOf(inlinesIn(block)))).join("\n");
