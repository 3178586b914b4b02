import type { TortureRow } from "./rows.ts";

const HELLO_DELETED =
  "diff --git a/x b/x\ndeleted file mode 100644\nindex ce01362..0000000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-hello\n";

/** The bytes 0 to 3 in git's format. */
const GIT_LITERAL = [
  "diff --git a/x b/x",
  "index ea24fdc7a83f1d3e0ea6d10d3fb3e1dfcd1ae0ab..0 100644",
  "GIT binary patch",
  "literal 4",
  "LcmZQzWMT#Y01f~L",
  "",
];

/** Files: git's headers, names, creates, deletes, renames, modes, binary content, mail. */
export const FILE_ROWS: readonly TortureRow[] = [
  {
    name: "git: a new file",
    before: {},
    patch:
      "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..ce01362\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+hello\n+you\n",
    after: { new: "hello\nyou\n" },
    modes: { new: 0o644 },
  },
  {
    name: "git: a new executable file without final newline",
    before: {},
    patch:
      "diff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+#!/bin/sh\n\\ No newline at end of file\n",
    after: { run: "#!/bin/sh" },
    modes: { run: 0o755 },
  },
  {
    name: "git: a new CRLF file",
    before: {},
    patch:
      "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+hello\r\n",
    after: { new: "hello\r\n" },
  },
  {
    name: "git: a new empty file",
    before: {},
    patch: "diff --git a/new b/new\nnew file mode 100644\nindex 0000000..e69de29\n",
    after: { new: "" },
  },
  { name: "git: a deleted file", before: "hello\n", patch: HELLO_DELETED, after: {} },
  {
    name: "git: a deleted file without final newline, unmarked",
    before: "hello",
    patch: HELLO_DELETED,
    after: {},
  },
  { name: "git: a deleted file with a BOM", before: "\ufeffhello\r\n", patch: HELLO_DELETED, after: {} },
  {
    name: "git: a deleted file whose content differs is refused",
    before: "hallo\n",
    patch: HELLO_DELETED,
    error: "PATCH_FAILED",
  },
  {
    name: "git: a deleted file that has more lines is refused",
    before: "hello\nmore\n",
    patch: HELLO_DELETED,
    error: "PATCH_FAILED",
    says: /lines that the patch does not/,
  },
  {
    name: "git: a deleted empty file",
    before: "",
    patch: "diff --git a/x b/x\ndeleted file mode 100644\nindex e69de29..0000000\n",
    after: {},
  },
  {
    name: "git: a rename",
    before: { old: "a\n" },
    patch: "diff --git a/old b/dir/new\nsimilarity index 100%\nrename from old\nrename to dir/new\n",
    after: { "dir/new": "a\n" },
  },
  {
    name: "git: a rename with changes",
    before: { "a b": "1\n2\n" },
    patch:
      "diff --git a/a b b/c d\nsimilarity index 50%\nrename from a b\nrename to c d\nindex 1..2 100644\n--- a/a b\t\n+++ b/c d\t\n@@ -1,2 +1,2 @@\n 1\n-2\n+two\n",
    after: { "c d": "1\ntwo\n" },
  },
  {
    name: "git: a copy leaves its source",
    before: { old: "1\n" },
    patch:
      "diff --git a/old b/new\nsimilarity index 80%\ncopy from old\ncopy to new\n--- a/old\n+++ b/new\n@@ -1 +1,2 @@\n 1\n+2\n",
    after: { old: "1\n", new: "1\n2\n" },
  },
  {
    name: "git: two files change names",
    before: { a: "A\n", b: "B\n" },
    patch: "diff --git a/a b/b\nrename from a\nrename to b\ndiff --git a/b b/a\nrename from b\nrename to a\n",
    after: { a: "B\n", b: "A\n" },
  },
  {
    name: "git: a change of mode alone",
    before: "a\n",
    patch: "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
    after: "a\n",
    modes: { x: 0o755 },
  },
  {
    name: "git: a change of mode and content",
    before: "a\n",
    patch:
      "diff --git a/x b/x\nold mode 100755\nnew mode 100644\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    after: "b\n",
    modes: { x: 0o644 },
  },
  {
    name: "git: a name with a space, no headers but the first",
    before: { "a b/c": "a\n" },
    patch: "diff --git a/a b/c b/a b/c\nold mode 100644\nnew mode 100755\n",
    after: { "a b/c": "a\n" },
    modes: { "a b/c": 0o755 },
  },
  {
    name: "git: a quoted name with bytes, tab and quotes",
    before: { 'é\t"\\': "a\n" },
    patch:
      'diff --git "a/\\303\\251\\t\\"\\\\" "b/\\303\\251\\t\\"\\\\"\n--- "a/\\303\\251\\t\\"\\\\"\n+++ "b/\\303\\251\\t\\"\\\\"\n@@ -1 +1 @@\n-a\n+b\n',
    after: { 'é\t"\\': "b\n" },
  },
  {
    name: "git: a quoted name that is not UTF-8",
    before: { "caf\udce9": "a\n" },
    patch: '--- "a/caf\\351"\n+++ "b/caf\\351"\n@@ -1 +1 @@\n-a\n+b\n',
    after: { "caf\udce9": "b\n" },
  },
  {
    name: "git: a quoted name with NUL is refused",
    before: {},
    patch: '--- /dev/null\n+++ "b/\\000"\n@@ -0,0 +1 @@\n+b\n',
    error: "PATCH_FAILED",
    says: /NUL/,
  },
  {
    name: "git: a damaged quoted name is refused",
    before: {},
    patch: '--- /dev/null\n+++ "b/\\9"\n@@ -0,0 +1 @@\n+b\n',
    error: "PATCH_FAILED",
    says: /line 2 of the patch/,
  },
  {
    name: "git: --no-prefix",
    before: { "src/x": "a\n" },
    patch: "diff --git src/x src/x\n--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n",
    after: { "src/x": "b\n" },
  },
  {
    name: "git: mnemonic prefixes",
    before: "a\n",
    patch: "diff --git i/x w/x\n--- i/x\n+++ w/x\n@@ -1 +1 @@\n-a\n+b\n",
    after: "b\n",
  },
  {
    name: "git: a new link",
    before: {},
    patch:
      "diff --git a/l b/l\nnew file mode 120000\nindex 0000000..1\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+to/there\n\\ No newline at end of file\n",
    after: { l: "to/there" },
    types: { l: "link" },
  },
  {
    name: "git: a new link whose target ends with a newline",
    before: {},
    patch: "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+there\n",
    after: { l: "there\n" },
    types: { l: "link" },
  },
  {
    name: "git: a link that leads elsewhere",
    before: { l: "a" },
    patch:
      "diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
    after: { l: "b" },
    types: { l: "link" },
  },
  {
    name: "git: a deleted link",
    before: { l: "a" },
    patch:
      "diff --git a/l b/l\ndeleted file mode 120000\nindex 1..0\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n",
    after: {},
    types: { l: "link" },
  },
  {
    name: "git: a deleted link that leads elsewhere is refused",
    before: { l: "b" },
    patch:
      "diff --git a/l b/l\ndeleted file mode 120000\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n",
    error: "PATCH_FAILED",
  },
  {
    name: "git: a link whose target is not UTF-8 is binary content",
    before: {},
    patch: "diff --git a/l b/l\nnew file mode 120000\nGIT binary patch\nliteral 4\nLcmZQzWMT#Y01f~L\n\n",
    after: { l: Buffer.of(0, 1, 2, 3) },
    types: { l: "link" },
  },
  {
    name: "git: a file becomes a link",
    before: "a\n",
    patch:
      "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\ndiff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n",
    after: "y",
    types: { x: "link" },
  },
  {
    name: "git: a file that becomes a link in one part is refused",
    before: "a\n",
    patch: "diff --git a/x b/x\nold mode 100644\nnew mode 120000\n",
    error: "PATCH_FAILED",
    says: /delete and a create/,
  },
  {
    name: "git: a rename that changes nothing does not say what it is about",
    before: { old: "a" },
    patch: "diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n",
    after: { new: "a" },
    types: { old: undefined },
  },
  {
    name: "git: a new submodule",
    before: {},
    patch:
      "diff --git a/s b/s\nnew file mode 160000\nindex 0000000..1111111\n--- /dev/null\n+++ b/s\n@@ -0,0 +1 @@\n+Subproject commit 1\n",
    after: { s: "Subproject commit 1\n" },
    types: { s: "submodule" },
  },
  {
    name: "git: a submodule at another commit",
    before: { s: "Subproject commit 1\n" },
    patch:
      "diff --git a/s b/s\nindex 1111111..2222222 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
    after: { s: "Subproject commit 2\n" },
    types: { s: "submodule" },
  },
  {
    name: "git: the diff of a merge is refused",
    before: "a\n",
    patch: "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n++b\n",
    error: "UNSUPPORTED",
    says: /merge/,
  },
  {
    name: "git: a mode that is none is refused",
    before: {},
    patch: "diff --git a/x b/x\nnew file mode 40755\n",
    error: "PATCH_FAILED",
    says: /mode/,
  },

  {
    name: "binary: a literal",
    before: Buffer.of(9, 9, 0),
    patch: GIT_LITERAL.slice(0, 1).concat(GIT_LITERAL.slice(2)).join("\n"),
    after: Buffer.of(0, 1, 2, 3),
  },
  {
    name: "binary: a literal made from other content is refused",
    before: Buffer.of(9, 9, 0),
    patch: GIT_LITERAL.join("\n"),
    error: "PATCH_FAILED",
    says: /other content/,
  },
  {
    name: "binary: only the word that files differ is refused",
    before: "\0",
    patch: "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
    error: "PATCH_FAILED",
    says: /git diff --binary/,
  },
  {
    name: "binary: damaged data is refused",
    before: "\0",
    patch: "diff --git a/x b/x\nGIT binary patch\nliteral 4\nLcmZQzWMT#Y01f~M\n\n",
    error: "PATCH_FAILED",
    says: /damaged|bytes/,
  },
  {
    name: "binary: a size that lies is refused",
    before: "\0",
    patch: "diff --git a/x b/x\nGIT binary patch\nliteral 3\nLcmZQzWMT#Y01f~L\n\n",
    error: "PATCH_FAILED",
  },
  {
    name: "binary: a size too large is refused",
    before: "\0",
    patch: "diff --git a/x b/x\nGIT binary patch\nliteral 999999999\nLcmZQzWMT#Y01f~L\n\n",
    error: "TOO_LARGE",
  },
  {
    name: "binary: a line of no base 85 is refused",
    before: "\0",
    patch: "diff --git a/x b/x\nGIT binary patch\nliteral 4\nLcmZQzWMT Y01f~L\n\n",
    error: "PATCH_FAILED",
    says: /line 4/,
  },

  {
    name: "plain: time stamps behind a tab",
    before: { "a name": "a\n" },
    patch:
      "--- a name\t2026-01-01 10:00:00.000000000 +0100\n+++ a name\t2026-01-02 10:00:00.000000000 +0100\n@@ -1 +1 @@\n-a\n+b\n",
    after: { "a name": "b\n" },
  },
  {
    name: "plain: diff -N writes a new file with the time 0",
    before: {},
    patch:
      "diff -ruN a/new b/new\n--- a/new\t1970-01-01 01:00:00.000000000 +0100\n+++ b/new\t2026-01-02 10:00:00.000000000 +0100\n@@ -0,0 +1 @@\n+b\n",
    after: { new: "b\n" },
  },
  {
    name: "plain: /dev/null makes a file",
    before: {},
    patch: "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+b\n",
    after: { new: "b\n" },
  },
  {
    name: "plain: /dev/null removes a file",
    before: "a\n",
    patch: "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    after: {},
  },
  {
    name: "plain: CRLF headers",
    before: "a\r\n",
    patch: "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n",
    after: "b\r\n",
  },
  {
    name: "plain: a folder called a",
    before: { "a/x": "a\n" },
    patch: "--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n",
    after: { "a/x": "b\n" },
  },
  {
    name: "plain: two names without a rename are refused",
    before: "a\n",
    patch: "--- x.orig\n+++ x\n@@ -1 +1 @@\n-a\n+b\n",
    error: "PATCH_FAILED",
    says: /rename/,
  },
  {
    name: "plain: names without hunks are refused",
    before: "a\n",
    patch: "--- a/x\n+++ b/x\n",
    error: "PATCH_FAILED",
    says: /no hunk follows/,
  },
  {
    name: "plain: two times /dev/null is refused",
    before: "a\n",
    patch: "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
    error: "PATCH_FAILED",
  },
  {
    name: "plain: svn's lines between files",
    before: { a: "1\n", b: "2\n" },
    patch:
      "Index: a\n===================\n--- a\t(revision 1)\n+++ a\t(working copy)\n@@ -1 +1 @@\n-1\n+one\nIndex: b\n===================\n--- b\n+++ b\n@@ -1 +1 @@\n-2\n+two\n",
    after: { a: "one\n", b: "two\n" },
  },
  {
    name: "many files, also with wrong counts",
    before: { a: "1\n", b: "2\n", c: "3\n" },
    patch:
      "--- a/a\n+++ b/a\n@@ -1,5 +1,5 @@\n-1\n+one\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+two\n\ndiff --git a/c b/c\n--- a/c\n+++ b/c\n@@ -1 +1 @@\n-3\n+three\n",
    after: { a: "one\n", b: "two\n", c: "three\n" },
  },
  {
    name: "the same file twice is refused",
    before: "a\nb\n",
    patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n",
    error: "PATCH_FAILED",
    says: /twice/,
  },
  {
    name: "a mail: text before, signature behind",
    before: "a\nb\n",
    patch:
      "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] do it\n\n- a list\n+ of things\n---\n x | 2 +-\n 1 file changed\n\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n-- \n2.39.5\n\n",
    after: "a\nc\n",
  },
  {
    name: "two mails in one",
    before: { a: "1\n", b: "2\n" },
    patch:
      "Subject: 1\n\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n-- \n2.39.5\n\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: 2\n---\n b | 2 +-\n\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-2\n+two\n-- \n2.39.5\n",
    after: { a: "one\n", b: "two\n" },
  },
  {
    name: "a stray line behind a hunk is refused",
    before: "a\nb\n",
    patch: "@@ -1 +1 @@\n-a\n+A\nb without its space\n",
    error: "PATCH_FAILED",
    says: /line 4 of the patch/,
  },
  {
    name: "a hunk without lines is refused",
    before: "a\n",
    patch: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n",
    error: "PATCH_FAILED",
    says: /no lines/,
  },
  {
    name: "text that is not a patch is refused",
    before: "a\n",
    patch: "please change a to b\n",
    error: "PATCH_FAILED",
    says: /not a patch/,
  },
  { name: "nothing is refused", before: "a\n", patch: " \n\n", error: "PATCH_FAILED", says: /empty/ },
  {
    name: "a Markdown fence is refused with a hint",
    before: "a\n",
    patch: "```diff\n@@ -1 +1 @@\n-a\n+b\n```\n",
    error: "PATCH_FAILED",
    says: /Markdown fence/,
  },
  {
    name: "a patch too large is refused",
    before: "a\n",
    patch: `@@ -1 +1 @@\n-a\n+${"x".repeat(16 * 1024 * 1024)}\n`,
    error: "TOO_LARGE",
  },
  {
    name: "too many files are refused",
    before: {},
    patch: Array.from({ length: 1_001 }, (_, i) => `--- /dev/null\n+++ b/${i}\n@@ -0,0 +1 @@\n+a\n`).join(""),
    error: "TOO_LARGE",
    says: /1001 files/,
  },
  {
    name: "a create of a file that has content is refused",
    before: "a\n",
    patch: "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
    error: "PATCH_FAILED",
    says: /already exists/,
  },
];
