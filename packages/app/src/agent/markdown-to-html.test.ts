import { expect, test } from "vitest";
import { markdownToHtml } from "./markdown-to-html.ts";

test("headings, emphasis, lists, tables and code become elements", () => {
  const html = markdownToHtml(
    "# Done\n\n**two** `x<y`\n\n- a\n- b\n\n|n|\n|-|\n|1|\n\n```ts\nif (a < b) {}\n```\n",
  );
  expect(html).toContain("<h1>Done</h1>");
  expect(html).toContain("<strong>two</strong> <code>x&lt;y</code>");
  expect(html).toContain("<li>a</li>");
  expect(html).toContain("<td>1</td>");
  expect(html).toContain('<pre><code class="language-ts">if (a &lt; b) {}');
});

test.each([
  "<script>alert(1)</script>",
  "a <img src=x onerror=alert(1)> b",
  "[x](javascript:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](<java&#10;script:alert(1)>)",
  "[x](data:text/html,<script>)",
  "![x](https://example.com/pixel.png)",
  '![x"onload="y](a"b)',
  '[x](https://example.com/"onclick="y)',
  "<a href='javascript:x'>y</a>",
  '```x"><script>\n```',
  '[x]: javascript:a\n\n[x] <https://e.com/"><b>',
])("%j cannot do anything", (markdown) => {
  const tags = markdownToHtml(markdown).match(/<[^>]*>/g) ?? [];
  for (const tag of tags)
    expect(tag).toMatch(
      /^<\/?(p|pre|code|a|strong|em)>$|^<a href="(https:\/\/|mailto:)[^"<>]*" rel="noreferrer">$|^<code class="language-[^"<>]*">$/,
    );
});
