import fc from "fast-check";
import { expect, test } from "vitest";
import { fromNative, pathToUri } from "../path.ts";
import { parseBatch } from "./binary-patch.ts";
import { parseBlame } from "./blame.ts";
import { parseLog } from "./log.ts";
import { parseDiff, parseStat } from "./parse-diff.ts";
import { quoteName, unquoteName } from "./quoted-name.ts";
import { parseSettings } from "./settings.ts";
import { parseStatus } from "./status.ts";

/** Any name that a file can have. */
const name = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes.map((byte) => byte || 1)));

test("any name comes back from git's quotes", () => {
  fc.assert(
    fc.property(name, (bytes) => {
      const path = fromNative(bytes);
      // A name that starts with a quote is always in quotes.
      expect(unquoteName(quoteName(path))).toBe(path);
    }),
  );
});

test("status reads any name, also in renames", () => {
  const id = "a".repeat(40);
  fc.assert(
    fc.property(name, name, (a, b) => {
      const output = Buffer.concat([
        Buffer.from(`# branch.oid ${id}\0# branch.head (detached)\0`),
        Buffer.from(`1 .M N... 100644 100644 100644 ${id} ${id} `),
        a,
        Buffer.from(`\0${`2 R. N... 100644 100644 100644 ${id} ${id} R100 `}`),
        a,
        Buffer.of(0),
        b,
        Buffer.from(`\0u UD N... 100644 100644 000000 100644 ${id} ${id} ${"0".repeat(40)} `),
        a,
        Buffer.from("\0? "),
        b,
        Buffer.of(0),
      ]);
      const { entries, head, branch } = parseStatus(output, "/top");
      const toUri = (path: string) => pathToUri(`/top/${path}`);
      const [nameA, nameB] = [fromNative(a), fromNative(b)];
      const [uriA, uriB] = [nameA, nameB].map((path) => toUri(path.replace(/\/$/, "")));
      expect({ head, branch }).toEqual({ head: id, branch: null });
      expect(entries).toMatchObject([
        { uri: uriA, unstaged: "modified" },
        { uri: uriA, staged: "renamed", renamed_from: toUri(nameB) },
        { uri: uriA, conflict: { kind: "deleted_by_them", theirs: null } },
        { uri: uriB, kind: "untracked" },
      ]);
    }),
  );
});

test("the parts of a diff go to their files, in which anything may look like a header", () => {
  const parts = ["M", "A"].map(
    (letter) =>
      `diff --git a/${letter} b/${letter}\nindex 1..2 100644\n--- a/${letter}\n+++ b/${letter}\n@@ -1 +1,2 @@\n-diff --git a/x b/x\n+:100644\n++++ b/x\n`,
  );
  const raw = ["M", "A", "D"].map((letter) => `:100644 100644 1 2 ${letter}\0${letter}\0`).join("");
  const counts = "2\t1\tM\x002\t1\tA\x000\t0\tD\0";
  const files = parseDiff(Buffer.from(`${raw}${counts}\0${parts.join("")}`), "/", "");
  expect(
    files.map(({ change, added, removed, parts: own }) => [change, added, removed, own.join("")]),
  ).toEqual([
    ["modified", 2, 1, parts[0]],
    ["added", 2, 1, parts[1]],
    ["deleted", 0, 0, ""],
  ]);
});

test("a file in conflict is listed once, with the hunks that compare it, whatever notes git prints before them", () => {
  const raw = ["U\0gone", "U\0f", "M\0f"].map((entry) => `:100644 100644 1 2 ${entry}\0`).join("");
  const part = "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n";
  const output = `${raw}0\t0\tgone\x000\t0\tf\x001\t0\tf\0\0* Unmerged path gone\n* Unmerged path f\n${part}`;
  expect(parseDiff(Buffer.from(output), "/", "")).toMatchObject([
    { name: "f", change: "conflict", added: 1, removed: 0, parts: [Buffer.from(part)] },
    { name: "gone", change: "conflict", added: null, removed: null, parts: [] },
  ]);
});

test("a stat reads renames with tabs in their names", () => {
  const output =
    ":100644 100644 1 2 R090\0o\tld\0n\tew\0:100644 100644 1 2 M\0a\tb\x003\t1\t\0o\tld\0n\tew\0-\t-\ta\tb\0";
  expect(parseStat(Buffer.from(output), "/top")).toMatchObject([
    { name: "n\tew", renamed_from: "file:///top/o%09ld", change: "renamed", added: 3, removed: 1 },
    { name: "a\tb", change: "modified", added: null, removed: null },
  ]);
});

test("settings keep names with dots, equals signs and line ends in their values, and keys without a value", () => {
  const output = "local\0file:/r/.git/config\0filter.a=b.c.clean\nx\ny\0global\0command line:\0core.bare\0";
  expect(parseSettings(Buffer.from(output))).toEqual([
    { scope: "local", file: "/r/.git/config", key: "filter.a=b.c.clean", value: "x\ny" },
    { scope: "global", file: undefined, key: "core.bare", value: "" },
  ]);
});

test("a batch of contents is read by size, whatever the contents hold", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 5 }), (contents) => {
      const ids = contents.map((_, n) => String(n).repeat(40));
      const output = contents.flatMap((content, n) => [
        Buffer.from(`${"f".repeat(40)} missing\n${ids[n]} blob ${content.length}\n`),
        Buffer.from(content),
        Buffer.from("\n"),
      ]);
      const parsed = parseBatch(Buffer.concat(output));
      expect([...parsed].map(([id, bytes]) => [id, [...bytes]])).toEqual(
        contents.map((bytes, n) => [ids[n], [...bytes]]),
      );
    }),
  );
});

test("no parser fails on bytes that are not its own", () => {
  const parsers = [parseBatch, parseBlame, parseLog, parseSettings] as const;
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const output = Buffer.from(bytes);
      for (const parse of parsers) parse(output);
      parseStatus(output, "/");
      parseStat(output, "/");
      parseDiff(output, "/", "");
    }),
  );
});
