import { action, Hash, invalidArgument, Ref, Uri } from "@octant/core";
import { type Edits, hashOf } from "@octant/host";
import { z } from "zod";
import { APPLY, DISK_ERRORS, EditNote, PATH_ERRORS } from "../kinds.ts";

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const FileUri = Uri.refine(
  (uri) => !uri.endsWith("/"),
  "ends in /, which is only for folders; fs.mkdir creates one",
);

export const write = ({ edits }: { edits: Edits }) =>
  action({
    summary: "Create a file and its parent folders; use apply_patch to change an existing file.",
    ...APPLY,
    unaskedIn: "edits",
    input: z.strictObject({
      uri: FileUri,
      content: z.string(),
      encoding: z.enum(["utf-8", "base64"]).default("utf-8").describe("Encoding of content"),
    }),
    output: z.object({ uri: Uri, hash: Hash, undo: Ref, note: EditNote }),
    errors: ["ALREADY_EXISTS", "NOT_FOUND", "NOT_A_DIRECTORY", ...PATH_ERRORS, "TOO_LARGE", ...DISK_ERRORS],
    examples: [
      { title: "A new file", input: { uri: "docs/notes.md", content: "# Notes\n" } },
      { title: "Bytes", input: { uri: "pixel.bin", content: "AAEC", encoding: "base64" } },
    ],
    text: ({ uri, hash, undo }, { path }) => ({ body: `created ${path(uri)}`, handles: { hash, undo } }),
    preview: async ({ uri, content, encoding }) => {
      edits.checkFree(uri);
      if (encoding !== "utf-8") return undefined;
      return `+++ ${uri}\n${content.replace(/\n$/, "").replaceAll(/^/gm, "+")}\n`;
    },
    whenKnown: ({ uri, content, encoding }, base_hash) =>
      encoding === "utf-8"
        ? { action: "apply_patch", input: { uri, base_hash, patch: toRewrite(content, base_hash) } }
        : undefined,
    run: ({ uri, content, encoding }, { signal }) => edits.create(uri, decode(content, encoding), signal),
  });

const EMPTY = hashOf(Buffer.alloc(0));

/** All lines of a file that has some are replaced; its own line endings stay. */
const toRewrite = (content: string, base_hash: string) => [
  ...(base_hash === EMPTY ? [] : [{ op: "delete", lines: "1-" }]),
  ...(content === "" ? [] : [{ op: "insert", line: 0, text: content }]),
];

/** Content that cannot be written exactly as sent is refused. */
function decode(content: string, encoding: "utf-8" | "base64"): Buffer {
  if (encoding === "utf-8") {
    if (content.isWellFormed()) return Buffer.from(content);
    throw invalidArgument(
      "content",
      "content is not valid Unicode: it holds half of a surrogate pair; send bytes as base64",
    );
  }
  if (BASE64.test(content)) return Buffer.from(content, "base64");
  throw invalidArgument(
    "content",
    "content is not valid base64 (A–Z a–z 0–9 + / with = at the end, no line breaks)",
  );
}
