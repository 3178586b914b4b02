import type { TortureRow } from "./rows.ts";

const latin1 = (text: string) => Buffer.from(text, "latin1");
const utf16le = (text: string) => Buffer.from(`\ufeff${text}`, "utf16le");
const utf16be = (text: string) => utf16le(text).swap16();

const SWAP_B = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";

/** Bytes: encodings, line endings, the end of the file. */
export const TEXT_ROWS: readonly TortureRow[] = [
  { name: "a plain change", before: "a\nb\nc\n", patch: SWAP_B, after: "a\nB\nc\n" },
  {
    name: "a lone CR in the heading of a hunk",
    before: "a\nb\nc\n",
    patch: SWAP_B.replace(" @@\n", " @@ int a\rb()\n"),
    after: "a\nB\nc\n",
  },
  {
    name: "U+2028 in the heading of a hunk",
    before: "a\nb\nc\n",
    patch: SWAP_B.replace(" @@\n", " @@ int a\u2028b()\n"),
    after: "a\nB\nc\n",
  },
  {
    name: "CRLF stays CRLF under an LF patch",
    before: "a\r\nb\r\nc\r\n",
    patch: SWAP_B,
    after: "a\r\nB\r\nc\r\n",
  },
  {
    name: "LF stays LF under a CRLF patch",
    before: "a\nb\nc\n",
    patch: SWAP_B.replaceAll("\n", "\r\n"),
    after: "a\nB\nc\n",
  },
  {
    name: "a CRLF patch on a CRLF file",
    before: "a\r\nb\r\nc\r\n",
    patch: SWAP_B.replaceAll("\n", "\r\n"),
    after: "a\r\nB\r\nc\r\n",
  },
  {
    name: "mixed endings: the changed line keeps its own (CRLF)",
    before: "a\nb\r\nc\n",
    patch: SWAP_B,
    after: "a\nB\r\nc\n",
  },
  {
    name: "mixed endings: the changed line keeps its own (LF)",
    before: "a\r\nb\nc\r\n",
    patch: SWAP_B,
    after: "a\r\nB\nc\r\n",
  },
  {
    name: "mixed endings: each added line takes the ending of the line it replaces",
    before: "a\nb\r\nc\nd\r\n",
    patch: "@@ -1,4 +1,4 @@\n a\n-b\n-c\n+B\n+C\n d\n",
    after: "a\nB\r\nC\nd\r\n",
  },
  {
    name: "an added line takes the ending of the line before it",
    before: "a\r\nb\r\nc\n",
    patch: "@@ -1,2 +1,3 @@\n a\n+new\n b\n",
    after: "a\r\nnew\r\nb\r\nc\n",
  },
  {
    name: "a line added at the start takes the ending of the next",
    before: "a\r\nb\n",
    patch: "@@ -1 +1,2 @@\n+new\n a\n",
    after: "new\r\na\r\nb\n",
  },
  {
    name: "git's change of LF to CRLF is obeyed",
    before: "a\nb\nc\n",
    patch: "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+b\r\n c\n",
    after: "a\nb\r\nc\n",
  },
  {
    name: "git's change of CRLF to LF is obeyed",
    before: "a\r\nb\r\nc\r\n",
    patch: "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\r\n-b\r\n+b\n c\r\n",
    after: "a\r\nb\nc\r\n",
  },
  {
    name: "a lone CR ends no line",
    before: "a\rb\nc\n",
    patch: "@@ -1,2 +1,2 @@\n a\rb\n-c\n+d\n",
    after: "a\rb\nd\n",
  },
  {
    name: "CR CR LF keeps both CRs",
    before: "a\r\r\nb\n",
    patch: "@@ -2 +2 @@\n-b\n+c\n",
    after: "a\r\r\nc\n",
  },
  {
    name: "a lone CR at the end of the file",
    before: "a\nb\r",
    patch: "@@ -1,2 +1,2 @@\n-a\n+A\n b\r\n\\ No newline at end of file\n",
    after: "A\nb\r",
  },
  {
    name: "form feed and vertical tab are part of a line",
    before: "a\f\v\nb\n",
    patch: "@@ -1,2 +1,2 @@\n a\f\v\n-b\n+c\n",
    after: "a\f\v\nc\n",
  },
  {
    name: "U+2028 and U+0085 end no line",
    before: "a\u2028b\u0085\nc\n",
    patch: "@@ -1,2 +1,2 @@\n a\u2028b\u0085\n-c\n+d\n",
    after: "a\u2028b\u0085\nd\n",
  },

  {
    name: "no final newline, marked on both sides",
    before: "a\nb",
    patch: "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n",
    after: "a\nc",
  },
  {
    name: "no final newline, unmarked: it stays away",
    before: "a\nb",
    patch: "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
    after: "a\nc",
  },
  {
    name: "no final newline, the mark in a CRLF patch",
    before: "a\nb",
    patch:
      "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n\\ No newline at end of file\r\n+c\r\n\\ No newline at end of file\r\n",
    after: "a\nc",
  },
  {
    name: "no final newline, last line only context",
    before: "a\nb",
    patch: "@@ -1,2 +1,2 @@\n-a\n+A\n b\n",
    after: "A\nb",
  },
  {
    name: "no final newline, one is added",
    before: "a\nb",
    patch: "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
    after: "a\nb\n",
  },
  {
    name: "a final newline is taken away",
    before: "a\nb\n",
    patch: "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n",
    after: "a\nb",
  },
  {
    name: "no final newline, a line is added behind",
    before: "a\nb",
    patch: "@@ -2 +2,2 @@\n b\n+c\n",
    after: "a\nb\nc\n",
  },
  {
    name: "no final newline in a CRLF file, a line is added behind",
    before: "a\r\nb",
    patch: "@@ -1,2 +1,3 @@\n a\n b\n+c\n",
    after: "a\r\nb\r\nc\r\n",
  },
  {
    name: "no final newline, the last line becomes two",
    before: "a\r\nb",
    patch: "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n",
    after: "a\r\nc\r\nd",
  },
  {
    name: "no final newline, the last line goes",
    before: "a\nb",
    patch: "@@ -1,2 +1 @@\n a\n-b\n",
    after: "a\n",
  },
  {
    name: "the mark on a file that ends with a newline is refused",
    before: "a\nb\n",
    patch: "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n",
    error: "PATCH_FAILED",
    says: /no newline at its end/,
  },
  {
    name: "the mark binds a hunk to the end of the file",
    before: "a\nb\nb",
    patch: "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n",
    after: "a\nb\nc\n",
  },
  {
    name: "a mark in the middle is refused",
    before: "a\nb\n",
    patch: "@@ -1,2 +1,2 @@\n a\n\\ No newline at end of file\n-b\n+c\n",
    error: "PATCH_FAILED",
    says: /only the last/,
  },
  {
    name: "a mark with nothing before it is refused",
    before: "a\n",
    patch: "@@ -1 +1 @@\n\\ No newline at end of file\n",
    error: "PATCH_FAILED",
    says: /line 2 of the patch/,
  },

  { name: "an empty file gets lines", before: "", patch: "@@ -0,0 +1,2 @@\n+a\n+b\n", after: "a\nb\n" },
  {
    name: "an empty file gets CRLF lines as the patch has them",
    before: "",
    patch: "@@ -0,0 +1 @@\n+a\r\n",
    after: "a\r\n",
  },
  {
    name: "a file loses all its lines and stays",
    before: "a\nb\n",
    patch: "@@ -1,2 +0,0 @@\n-a\n-b\n",
    after: "",
  },
  { name: "a file of one newline", before: "\n", patch: "@@ -1 +1 @@\n-\n+a\n", after: "a\n" },

  {
    name: "a UTF-8 BOM is out of the way and stays",
    before: "\ufeffa\nb\nc\n",
    patch: SWAP_B,
    after: "\ufeffa\nB\nc\n",
  },
  {
    name: "a UTF-8 BOM stays first when the first line changes",
    before: "\ufeffa\nb\n",
    patch: "@@ -1,2 +1,3 @@\n+new\n-a\n+A\n b\n",
    after: "\ufeffnew\nA\nb\n",
  },
  {
    name: "a patch that shows the BOM may take it off",
    before: "\ufeffa\nb\n",
    patch: "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-\ufeffa\n+a\n b\n",
    after: "a\nb\n",
  },
  {
    name: "a patch may put a BOM on",
    before: "a\nb\n",
    patch: "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+\ufeffa\n b\n",
    after: "\ufeffa\nb\n",
  },
  {
    name: "a patch that itself starts with a BOM",
    before: "a\nb\nc\n",
    patch: `\ufeff${SWAP_B}`,
    after: "a\nB\nc\n",
  },
  {
    name: "UTF-16 LE with BOM",
    before: utf16le("a\r\nb\r\nc\r\n"),
    patch: SWAP_B,
    after: utf16le("a\r\nB\r\nc\r\n"),
  },
  {
    name: "UTF-16 BE with BOM",
    before: utf16be("ä\nb\n"),
    patch: "@@ -1,2 +1,2 @@\n ä\n-b\n+日本😀\n",
    after: utf16be("ä\n日本😀\n"),
  },
  {
    name: "UTF-16 with half a surrogate pair elsewhere",
    before: utf16le("\ud800\na\n"),
    patch: "@@ -2 +2 @@\n-a\n+b\n",
    after: utf16le("\ud800\nb\n"),
  },
  {
    name: "Latin-1 bytes elsewhere survive",
    before: latin1("caf\xe9\nb\n"),
    patch: "@@ -2 +2 @@\n-b\n+c\n",
    after: latin1("caf\xe9\nc\n"),
  },
  {
    name: "Latin-1 bytes in the context match",
    before: latin1("caf\xe9\nb\n"),
    patch: "@@ -1,2 +1,2 @@\n café\n-b\n+c\n",
    after: latin1("caf\xe9\nc\n"),
  },
  {
    name: "text added to a Latin-1 file is Latin-1",
    before: latin1("caf\xe9\nb\n"),
    patch: "@@ -2 +2 @@\n-b\n+ü\n",
    after: latin1("caf\xe9\n\xfc\n"),
  },
  {
    name: "UTF-8 in a file with some broken bytes",
    before: latin1("\xc3\xa9\n\xff\xfe\xfd\nb\n"),
    patch: "@@ -1,1 +1,1 @@\n-é\n+è\n",
    after: latin1("\xc3\xa8\n\xff\xfe\xfd\nb\n"),
  },
  {
    name: "text that Latin-1 has no bytes for goes in as UTF-8",
    before: latin1("\xe9\nb\n"),
    patch: "@@ -2 +2 @@\n-b\n+日\n",
    after: latin1("\xe9\n\xe6\x97\xa5\n"),
  },
  {
    name: "NUL bytes elsewhere survive",
    before: "a\0\0\nb\n",
    patch: "@@ -2 +2 @@\n-b\n+c\n",
    after: "a\0\0\nc\n",
  },
  {
    name: "NUL in the context matches",
    before: "a\0\nb\n",
    patch: "@@ -1,2 +1,2 @@\n a\0\n-b\n+c\0\n",
    after: "a\0\nc\0\n",
  },
  {
    name: "emoji, joiners and right-to-left text",
    before: "👩‍👩‍👧 שלום\nb\n",
    patch: "@@ -1,2 +1,2 @@\n-👩‍👩‍👧 שלום\n+👩‍👩‍👧 עולם\n b\n",
    after: "👩‍👩‍👧 עולם\nb\n",
  },
  {
    name: "NFC in the patch does not match NFD in the file",
    before: "cafe\u0301\n",
    patch: "@@ -1 +1 @@\n-caf\u00e9\n+x\n",
    error: "PATCH_FAILED",
    says: /does not apply/,
  },
  {
    name: "NFD in the file is left as it is",
    before: "cafe\u0301\nb\n",
    patch: "@@ -1,2 +1,2 @@\n cafe\u0301\n-b\n+c\n",
    after: "cafe\u0301\nc\n",
  },
  {
    name: "a no-break space is not a space",
    before: "a\u00a0b\n",
    patch: "@@ -1 +1 @@\n-a b\n+x\n",
    error: "PATCH_FAILED",
  },
  {
    name: "half a surrogate pair in the patch is refused",
    before: "a\n",
    patch: "@@ -1 +1 @@\n-a\n+\ud800\n",
    error: "PATCH_FAILED",
    says: /Unicode/,
  },
  {
    name: "$&, $1, $$ and $` are nothing special",
    before: "a\nb\nc\n",
    patch: "@@ -1,3 +1,3 @@\n a\n-b\n+$& $1 $$ $` $' \\1\n c\n",
    after: "a\n$& $1 $$ $` $' \\1\nc\n",
  },
  {
    name: "regular expression characters are nothing special",
    before: "a.*(b\n[c\n",
    patch: "@@ -1,2 +1,2 @@\n a.*(b\n-[c\n+]d\n",
    after: "a.*(b\n]d\n",
  },
  {
    name: "a line of a million characters",
    before: `${"x".repeat(1_000_000)}\nb\n`,
    patch: "@@ -2 +2 @@\n-b\n+c\n",
    after: `${"x".repeat(1_000_000)}\nc\n`,
  },
];
