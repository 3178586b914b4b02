import fc from "fast-check";
import { expect, test } from "vitest";
import { toMarkdown } from "./index.ts";

const markdown = (html: string, url = "https://example.com/a/b") => toMarkdown(html, url).markdown;
const LONG =
  "The main part says something of use, and says it at some length, so that nobody takes it for a caption. "
    .repeat(2)
    .trim();

test.each([
  ["headings", "<h1>One</h1><h3>Th<b>r</b>ee</h3>", "# One\n\n### Three\n"],
  [
    "a heading with its own anchor",
    '<h2><a href="#a">A</a> <a href="/b">B</a></h2>',
    "## A [B](https://example.com/b)\n",
  ],
  ["paragraphs", "<p>a\n  b<p>c", "a b\n\nc\n"],
  ["line breaks", "a<br>b<br/>c", "a\\\nb\\\nc\n"],
  ["emphasis", "<b> a </b>b<i>c</i><s>d</s>", "**a** b*c*~~d~~\n"],
  ["emphasis over blocks", "<b><p>a<p>b</b>", "**a**\n\n**b**\n"],
  ["links are absolute", '<a href="../x?y=1&amp;z">t</a>', "[t](https://example.com/x?y=1&z)\n"],
  ["a base", '<base href="/d/"><a href="x">t</a>', "[t](https://example.com/d/x)\n"],
  ["links that lead nowhere", '<a href="javascript:x()">a</a> <a href="data:,x">b</a> <a>c</a>', "a b c\n"],
  ["credentials in links", '<a href="http://u:p@h.test/">a</a>', "[a](http://h.test/)\n"],
  ["brackets in links", '<a href="/a(b)[c]">x</a>', "[x](https://example.com/a%28b%29%5Bc%5D)\n"],
  [
    "a card",
    '<a href="/x"><h2>T</h2><p>p</p></a>',
    "## [T](https://example.com/x)\n\n[p](https://example.com/x)\n",
  ],
  ["pictures are links", '<img src=i.png alt="A cat">', "[A cat](https://example.com/a/i.png)\n"],
  ["pictures without a word", '<img src=i.png><img src=x alt="">', ""],
  ["a picture in a link", '<a href="/x"><img src=i.png alt=cat></a>', "[cat](https://example.com/x)\n"],
  ["code", "use <code>a `b`</code> and <kbd>x</kbd>", "use `` a `b` `` and `x`\n"],
  [
    "code blocks",
    '<pre><code class="hljs language-ts">a &lt; b\n  c\n</code></pre>',
    "```ts\na < b\n  c\n```\n",
  ],
  ["fences in code", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````\n"],
  ["code line by line", "<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```\n"],
  ["lists", "<ul><li>a<li>b<ol start=3><li>c<li>d</ol><li>e</ul>f", "- a\n- b\n  3. c\n  4. d\n- e\n\nf\n"],
  ["items with paragraphs", "<ul><li><p>a<p>b<li>c</ul>", "- a\n\n  b\n- c\n"],
  ["code in a list", "<ol><li>a<pre>x\ny</pre></ol>", "1. a\n\n   ```\n   x\n   y\n   ```\n"],
  ["definitions", "<dl><dt>T<dd>D</dl>", "T\n- D\n"],
  ["quotes", "<blockquote>a<p>b<blockquote>c</blockquote></blockquote>d", "> a\n>\n> b\n>\n> > c\n\nd\n"],
  ["rules", "a<hr>b", "a\n\n---\n\nb\n"],
  [
    "tables",
    "<table><tr><th>A<th>B<tr><td>1<td>x|y<tr><td><p>p<p>q<td><code>c</code></table>",
    "| A | B |\n| --- | --- |\n| 1 | x\\|y |\n| p q | `c` |\n",
  ],
  ["wide cells", "<table><tr><td colspan=2>w<tr><td>1<td>2</table>", "| w |  |\n| --- | --- |\n| 1 | 2 |\n"],
  ["tables that arrange", "<table><tr><td><h1>T</h1><td><p>x</table>", "# T\n\nx\n"],
  [
    "tables in tables",
    "<table><tr><td>a<table><tr><td>1<td>2</table><td>b</table>",
    "a\n\n| 1 | 2 |\n| --- | --- |\n\nb\n",
  ],
  ["entities", "&lt;b&gt; &amp;amp; &copy; &#x41;", "\\<b> \\&amp; © A\n"],
  ["unclosed and crossed", "<div><b>a<i>b</b>c</div>d</p></td>e", "**a*b***c\n\nde\n"],
])("%s", (_, html, expected) => {
  expect(markdown(html)).toBe(expected);
});

test.each([
  "<script>x</script>",
  "<style>x</style>",
  "<template>x</template>",
  "<noscript>x</noscript>",
  "<svg><text>x</text></svg>",
  "<!-- x -->",
  "<textarea>x</textarea>",
  "<p hidden>x</p>",
  "<p aria-hidden=true>x</p>",
  "<p style='display:none'>x</p>",
  "<p style='DISPLAY : None !important'>x</p>",
  "<p style='color:red;visibility:hidden'>x</p>",
  "<p style='opacity:0'>x</p>",
  "<p style='font-size:0px'>x</p>",
  "<p style='width:0;height:0;overflow:hidden'>x</p>",
  "<p style='position:absolute;left:-9999px'>x</p>",
  "<p style='text-indent:-10000px'>x</p>",
  "<p style='color:transparent'>x</p>",
  "<div hidden><p>x<div>x</div></p></div>",
  "<dialog>x</dialog>",
  "\u200b\u202e\u2066\u{e0041}\ufeff\u00ad",
])("%s is not seen", (html) => {
  expect(markdown(`<p>a</p>${html}<p>b</p>`)).toBe("a\n\nb\n");
});

test("the main part is extracted without its surroundings", () => {
  const around = (main: string) =>
    `<header>Site</header><nav>Menu</nav>${main}<aside>Ads</aside><footer>Legal</footer>`;
  expect(markdown(around(`<main><h1>T</h1><nav>inner</nav><p>${LONG}</p></main>`))).toBe(`# T\n\n${LONG}\n`);
  expect(markdown(around(`<div role=main><p>${LONG}</p></div>`))).toBe(`${LONG}\n`);
  expect(markdown(around(`<article><p>${LONG}</p></article>`))).toBe(`${LONG}\n`);
  const all = markdown(around("<main>short</main>"));
  for (const part of ["Site", "Menu", "short", "Ads", "Legal"]) expect(all).toContain(part);
  const many = markdown(`${`<article><p>${LONG}</p></article>`.repeat(3)}<p>end`);
  expect(many.match(/The main part/g)).toHaveLength(6);
  expect(many).toContain("end");
});

test("unknown elements are read as their text, whatever their names", () => {
  const page = "<p>a<constructor>b</constructor>c</toString></constructor>d<valueOf>e";
  expect(markdown(page)).toBe("abcde\n");
});

test("the title is returned separately", () => {
  expect(toMarkdown("<title> A &amp; B\n</title><p>x", "https://e.test/")).toEqual({
    title: "A & B",
    markdown: "x\n",
  });
});

test.each([
  "# heading",
  "- item",
  "+ item",
  "* item",
  "1. item",
  "2) item",
  "> quote",
  "```js",
  "~~~",
  "---",
  "===",
  "| a | b |",
  ":-- | --:",
  "[x]: http://evil.test",
  "[text](http://evil.test)",
  "![alt](http://evil.test)",
  "<img src=x onerror=y>",
  "<!-- comment -->",
  "**bold** __bold__ *em* _em_ ~~gone~~ `code`",
  "&lt;b&gt;",
  "\\# escaped",
])("text that looks like structure stays text: %s", (text) => {
  const html = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const [line = ""] = markdown(`<p>${html}</p>`).split("\n");
  // With all escaped characters replaced, no active character remains.
  const active = line.replace(/\\[!-/:-@[-`{-~]/g, "x");
  expect(active).not.toMatch(
    /^(#{1,6} |[-+*] |\d+[.)] |>|=+$|-{3,}|~{3}|\||:-)|[`*[\]]|<[a-z!/]|~~|(?<!\w)_|_(?!\w)|&\w+;/,
  );
});

test("the same page gives the same text, and any bytes give some", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "<p>",
      "</p>",
      "<b>",
      "</b>",
      "<table>",
      "<tr>",
      "<td>",
      "</table>",
      "<ul>",
      "<li>",
      "</ul>",
      "<pre>",
      "</pre>",
      "<a href=x>",
      "</a>",
      "<h2>",
      "</h2>",
      "<blockquote>",
      "</blockquote>",
      "<main>",
      "</main>",
      "<div hidden>",
      "</div>",
      "<br>",
      "x",
      " y ",
      "&amp;",
      "<",
      "`",
      "|",
      "\n",
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        pieces.map((all) => all.join("")),
        fc.string({ unit: "binary" }),
      ),
      (html) => {
        const text = markdown(html);
        expect(markdown(html)).toBe(text);
        expect(text.isWellFormed()).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

const HOSTILE: Readonly<Record<string, string>> = {
  "50,000 nested divs": `${"<div>".repeat(50_000)}x`,
  "50,000 nested quotes": `${"<blockquote>".repeat(50_000)}x`,
  "50,000 nested lists": `${"<ul><li>".repeat(50_000)}x`,
  "50,000 nested tables": `${"<table><tr><td>".repeat(50_000)}x`,
  "deep inline with many paragraphs": "<b><i>".repeat(50_000) + "x<p>".repeat(25_000),
  "many end tags": `<p>x${"</b>".repeat(200_000)}`,
  "many attributes": `<a ${"x=1 ".repeat(200_000)}>x`,
  "many spaces": `<p>${" ".repeat(1_000_000)}x`,
  "many open brackets": `x${"<".repeat(1_000_000)}`,
};

test.each(Object.keys(HOSTILE))("%s take bounded time", (name) => {
  const start = process.threadCpuUsage();
  expect(markdown(HOSTILE[name] ?? "")).toContain("x");
  expect(process.threadCpuUsage(start).user).toBeLessThan(3_000_000);
});
