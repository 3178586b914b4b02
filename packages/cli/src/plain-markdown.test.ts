import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { toPlainText } from "./plain-markdown.ts";

test("a manual loses its markup and keeps its columns", () => {
  const markdown = [
    "## fs.read",
    "",
    "*read, sync*",
    "",
    "| parameter | type |",
    "|---|---|",
    "| `uri` | string |",
    "| `encoding?` | `utf-8`, `a\\|b` |",
    "| `pattern?` | *.ts or src/**/*.ts |",
    "",
    '- Two: `{"glob":"**/*.ts"}`',
  ].join("\n");
  expect(toPlainText(markdown, new PassThrough()).text).toBe(
    [
      "fs.read",
      "",
      "read, sync",
      "",
      "  parameter  type",
      "  uri        string",
      "  encoding?  utf-8, a|b",
      "  pattern?   *.ts or src/**/*.ts",
      "",
      '- Two: {"glob":"**/*.ts"}',
    ].join("\n"),
  );
});
