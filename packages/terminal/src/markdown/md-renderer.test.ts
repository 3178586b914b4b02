import { createRequire } from "node:module";
import fc from "fast-check";
import { common, createLowlight } from "lowlight";
import { describe, expect, test } from "vitest";
import { paint } from "../paint.ts";
import { type Line, lineWidth, plainText } from "../styled.ts";
import { highlight } from "./highlight.ts";
import { MdRenderer } from "./md-renderer.ts";

const WIDTH = 40;
/** The package has no types. */
const spec: { tests: { markdown: string }[] } = createRequire(import.meta.url)("commonmark-spec");
const EXAMPLES = spec.tests.map(({ markdown }) => markdown);

function renderWhole(source: string, width = WIDTH): Line[] {
  const renderer = new MdRenderer({ width });
  return [...renderer.renderChunk(source), ...renderer.flush()];
}

const shown = (source: string, width?: number) => renderWhole(source, width).map(plainText).join("\n");

describe("MdRenderer", () => {
  test("every CommonMark example, at every prefix: committed lines never change and the end equals one pass", () => {
    expect(EXAMPLES.length).toBeGreaterThan(600);
    for (const source of EXAMPLES) {
      const renderer = new MdRenderer({ width: WIDTH });
      const committed: Line[] = [];
      for (const character of source) {
        committed.push(...renderer.renderChunk(character));
        renderer.preview(16);
      }
      committed.push(...renderer.flush());
      expect(committed, JSON.stringify(source)).toEqual(renderWhole(source));
    }
  });

  test("any chunks of any text give the same lines", () => {
    const part = fc.oneof(
      fc.constantFrom(...EXAMPLES),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(
        "\n\n",
        "```ts\n",
        "```\n",
        "- a\n",
        "  - b\n",
        "> q\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
      ),
    );
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 6 }),
        fc.array(fc.nat(400), { maxLength: 8 }),
        (parts, cuts) => {
          const source = parts.join("");
          const renderer = new MdRenderer({ width: WIDTH });
          const at = [0, ...cuts.filter((cut) => cut < source.length).sort((a, b) => a - b), source.length];
          const lines = at.slice(1).flatMap((end, i) => renderer.renderChunk(source.slice(at[i], end)));
          expect([...lines, ...renderer.flush()]).toEqual(renderWhole(source));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("no line is wider than the terminal and none contains a control character", () => {
    const hostile = fc.array(
      fc.constantFrom(
        "\x1b[31m",
        "\x1b]52;c;YQ==\x07",
        "\0",
        "\u202e",
        "日本",
        "a b",
        "`",
        "|",
        "\n",
        "- ",
        "🎉",
      ),
    );
    fc.assert(
      fc.property(hostile, fc.integer({ min: 12, max: 60 }), (parts, width) => {
        for (const line of renderWhole(parts.join(""), width)) {
          expect(lineWidth(line)).toBeLessThanOrEqual(width);
          expect(plainText(line)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("headings, emphasis, lists, tasks, quotes and rules are readable", () => {
    const source =
      "# Title\n\nSome *text* and `code`.\n\n- one\n- two\n  1. nested\n- [x] done\n\n> quoted\n> more\n\n---\nend";
    expect(shown(source)).toBe(
      [
        "Title",
        "",
        "Some text and code.",
        "",
        "• one",
        "• two",
        "  1. nested",
        "• ☑ done",
        "",
        "│ quoted more",
        "",
        "─".repeat(40),
        "",
        "end",
      ].join("\n"),
    );
  });

  test("a table fits the width, or becomes records when it cannot", () => {
    const source = "| name | what it does |\n|---|--:|\n| fs | reads and writes files |\n| proc | runs |\n";
    expect(shown(source, 24)).toBe(
      [
        "name │      what it does",
        "─────┼──────────────────",
        "fs   │  reads and writes",
        "     │             files",
        "proc │              runs",
      ].join("\n"),
    );
    expect(shown("| a | b | c | d |\n|-|-|-|-|\n| 1 | 2 | 3 | 4 |", 10)).toBe("a: 1\nb: 2\nc: 3\nd: 4");
  });

  test.each([
    ["a fence", "```js\n", "let a = 1;\n", "  let a = 1;"],
    ["a list", "", "- an item\n", "• an item"],
    ["a table", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "1   │ 2"],
    ["a paragraph", "", "word ".repeat(20), "word ".repeat(8).trim()],
  ])("the preview of %s is drawn from its end, however long it is", (_name, head, part, row) => {
    const sources: number[] = [];
    const renderer = new MdRenderer({
      width: WIDTH,
      highlight: (code) => {
        sources.push(code.length);
        return code.split("\n").map((text) => [{ text, style: {} }]);
      },
    });
    renderer.renderChunk(head + part.repeat(5_000));
    expect(renderer.preview(4).map(plainText)).toEqual([row, row, row, row]);
    expect(Math.max(0, ...sources)).toBeLessThan(1_000);
  });

  test("a link shows its address unless that is its text", () => {
    expect(shown("[docs](https://example.com) <https://example.com>", 80)).toBe(
      "docs (https://example.com) https://example.com",
    );
  });

  test("code keeps its spaces and is highlighted when its fence closes", () => {
    const lowlight = createLowlight(common);
    const renderer = new MdRenderer({
      width: 40,
      highlight: (code, language) => highlight(lowlight, code, language),
    });
    expect(renderer.renderChunk("```js\nconst a  = 1;\n")).toEqual([]);
    expect(renderer.preview(16).map(plainText)).toEqual(["  const a  = 1;"]);
    const [line = []] = renderer.renderChunk("```\n");
    expect(plainText(line)).toBe("  const a  = 1;");
    expect(line.find(({ text }) => text === "const")?.style.role).toBe("keyword");
    expect(paint(line, { depth: "16", background: "dark" })).toContain("\x1b[35mconst\x1b[0m");
    expect(paint(line, { depth: "none", background: "dark" })).toBe("  const a  = 1;");
  });
});
