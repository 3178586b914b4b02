import { action, Lines, Range, ToolError, toRange, Uri } from "@octant/core";
import { createLanguageClient, type FormatOptions, ServerRefused, ServerUnavailable } from "@octant/host";
import { z } from "zod";
import { APPLY_SHORT } from "../kinds.ts";
import { ChangedFiles, changesText, EDIT_ERRORS, makeChanges } from "./changed-files.ts";
import type { Code } from "./code.ts";

export const format = (code: Code) =>
  action({
    summary: "Format a file, or part of it, with its language server.",
    ...APPLY_SHORT,
    unaskedIn: "edits",
    destructive: true,
    input: z.strictObject({
      uri: Uri,
      range: Range.optional(),
      lines: Lines.optional(),
      dry_run: z.boolean().default(false),
    }),
    output: ChangedFiles,
    errors: EDIT_ERRORS,
    examples: [{ title: "Preview the change", input: { uri: "src/main.ts", dry_run: true } }],
    text: changesText,
    async run({ uri, range, lines, dry_run }, ctx) {
      const { path, text } = code.sources.read(code.workspace.confinement.toPath(uri));
      const found = await code.servers.find(path);
      if (!("server" in found)) throw cannotFormat(found.how);
      const client = createLanguageClient(found.server);
      ctx.backend(client.name);
      try {
        const proposed = await client.format(
          path,
          toRange({ range, lines }, text.split("\n").length),
          indentationOf(text),
          ctx.signal,
        );
        if (!proposed)
          throw cannotFormat(`${client.name} has no formatter; run the project's own by proc.exec`);
        return await makeChanges(code, proposed, { dryRun: dry_run }, ctx);
      } catch (cause) {
        if (cause instanceof ServerRefused || cause instanceof ServerUnavailable)
          throw new ToolError("UPSTREAM_ERROR", cause.message, {}, { cause });
        throw cause;
      }
    },
  });

const DEFAULT_TAB_SIZE = 2;

/** Derived from the file's current indentation. */
function indentationOf(text: string): FormatOptions {
  const indents = text.match(/^[\t ]+(?=\S)/gm) ?? [];
  const insertSpaces = indents.filter((indent) => indent.startsWith("\t")).length * 2 <= indents.length;
  const widths = indents
    .filter((indent) => indent.length > 1 && !indent.startsWith("\t"))
    .map(({ length }) => length);
  return { insertSpaces, tabSize: insertSpaces ? Math.min(...widths, 8) % 8 || DEFAULT_TAB_SIZE : 8 };
}

const cannotFormat = (how: string) =>
  new ToolError("UNSUPPORTED", `no language server can format here; ${how}`, { what: "format", how });
