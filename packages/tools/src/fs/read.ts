import {
  type ActionText,
  ANSWER_BYTES,
  action,
  type Context,
  Lines,
  MAX_ANSWER_BYTES,
  Range,
  type Reader,
  shortHash,
  ToolError,
  toRange,
  Uri,
} from "@octant/core";
import { FileContent, type Files, MAX_IMAGE_BYTES, type Reading, type ReadOptions } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";

const MAX_URIS = 100;

const OrderedRange = Range.refine(
  ({ start, end }) => start.line < end.line || (start.line === end.line && start.col <= end.col),
  "range.end is before range.start",
);

const Failure = z.object({ uri: z.string(), error: z.object({ code: z.string(), message: z.string() }) });

/** One uri returns a flat answer; a list returns one row per uri. */
const Output = FileContent.partial().extend({ files: z.array(z.union([FileContent, Failure])).optional() });

export const read = ({ files }: { readonly files: Files }) =>
  action({
    summary: "Read files, part of a file, or a ref; the answer has the hash that an edit needs.",
    ...INSPECT,
    input: z.strictObject({
      uri: z.union([Uri, z.array(Uri).min(1).max(MAX_URIS)]).describe("URI, path or ref; or a list"),
      range: OrderedRange.optional().describe(
        "0-based, end exclusive; col in UTF-16 units; in base64 the file is line 0 and col counts bytes",
      ),
      lines: Lines.optional(),
      encoding: z.enum(["auto", "utf-8", "base64"]).default("auto").describe("auto: text if it is text"),
      max_bytes: z
        .int()
        .min(1)
        .max(MAX_ANSWER_BYTES)
        .default(ANSWER_BYTES)
        .describe("Answer budget; longer content comes as head and tail"),
    }),
    output: Output,
    errors: ["NOT_FOUND", "NOT_A_FILE", "NOT_TEXT", "OUTSIDE_WORKSPACE", "ACCESS_DENIED", "TOO_LARGE"],
    examples: [
      { title: "A file", input: { uri: "README.md" } },
      { title: "The first 40 lines", input: { uri: "src/main.ts", lines: "1-40" } },
      {
        title: "A part of a line",
        input: { uri: "src/main.ts", range: { start: { line: 0 }, end: { line: 0, col: 6 } } },
      },
      { title: "Several files", input: { uri: ["package.json", "src/main.ts"] } },
    ],
    text: readText,
    async run({ uri, range, lines, encoding, max_bytes }, ctx) {
      const options: ReadOptions = {
        owner: ctx.caller.id,
        range: toRange({ range, lines }),
        encoding,
        maxBytes: max_bytes,
        signal: ctx.signal,
      };
      if (Array.isArray(uri)) return readMany(files, uri, options, ctx);
      return attach(await files.read(uri, options), ctx);
    },
  });

function attach({ content, picture }: Reading, ctx: Context): z.input<typeof FileContent> {
  if (picture) ctx.attach({ kind: "image", ...picture });
  return content;
}

/** The budget is shared: each file may use an even part of the rest. */
async function readMany(files: Files, uris: readonly string[], options: ReadOptions, ctx: Context) {
  const rows: z.input<typeof Failure | typeof FileContent>[] = [];
  let bytesLeft = options.maxBytes;
  let imageBytesLeft = MAX_IMAGE_BYTES;
  for (const [done, uri] of uris.entries()) {
    ctx.signal.throwIfAborted();
    const maxBytes = Math.floor(bytesLeft / (uris.length - done));
    try {
      const reading = await files.read(uri, { ...options, maxBytes, maxImageBytes: imageBytesLeft });
      bytesLeft -= lengthOf(reading);
      imageBytesLeft -= reading.picture?.bytes.length ?? 0;
      rows.push(attach(reading, ctx));
    } catch (cause) {
      if (!(cause instanceof ToolError)) throw cause;
      rows.push({ uri, error: { code: cause.code, message: cause.message } });
    }
  }
  return { files: rows };
}

const lengthOf = ({ content: { text = "", base64 = "", tail = "" } }: Reading) =>
  Buffer.byteLength(text) + base64.length + Buffer.byteLength(tail);

type FileData = Partial<z.output<typeof FileContent>>;

function readText(data: z.output<typeof Output>, reader: Reader): ActionText {
  if (!data.files) return fileText(data);
  const parts = data.files.map((file) => {
    const title = `==> ${reader.path(file.uri)} <==`;
    if ("error" in file) return `${title}\n${file.error.code}: ${file.error.message}`;
    const { body, notes = [], handles = {} } = fileText(file);
    const facts = [
      ...notes.filter(Boolean),
      handles["hash"] && shortHash(String(handles["hash"])),
      handles["ref"] && `ref ${handles["ref"]}`,
    ];
    return `${title} ${facts.filter(Boolean).join("; ")}\n${body}`.replace(/\n$/, "");
  });
  return { body: parts.join("\n") };
}

function fileText(data: FileData): ActionText {
  const { text, base64, range, line_count, eol, bom, truncated, ref, hash, encoding, mime, size = 0 } = data;
  const handles = { hash, ...(truncated && { ref }) };
  if (encoding === "image") return { body: `${mime ?? "image"}, ${size} bytes, attached`, handles };
  if (base64 !== undefined) return { body: base64, notes: [`base64, ${size} bytes in total`], handles };
  const notes = [
    range && partOf(range, line_count),
    (eol === "crlf" || eol === "mixed") && `line ends ${eol}`,
    bom && "has a BOM",
    encoding !== "utf-8" && encoding,
    !range &&
      text !== undefined &&
      text !== "" &&
      !text.endsWith("\n") &&
      !data.tail &&
      "no newline at the end",
    text === "" && "empty",
  ];
  return { body: withMiddle(text ?? "", data), notes, handles };
}

function partOf({ start, end }: Range, count: number | null | undefined): string {
  const last = end.col === 0 && end.line > start.line ? end.line : end.line + 1;
  return `lines ${start.line + 1}-${last}${count ? ` of ${count}` : ""}`;
}

function withMiddle(head: string, { tail, omitted }: FileData): string {
  if (tail === undefined) return head;
  const from = omitted ? `; read on from line ${omitted.start.line + 1}` : "";
  const gap = `[… ${omitted?.lines ?? "some"} lines, ${omitted?.bytes ?? "some"} bytes omitted${from} …]`;
  return `${head}${head === "" || head.endsWith("\n") ? "" : "\n"}${gap}\n${tail}`;
}
