import { z } from "zod";
import { Hash, Range, Uri } from "../../src/ids.ts";
import { pagingInput } from "../../src/paging.ts";
import { action, defineTool } from "../../src/tool.ts";

/** fs and ws as the specification declares them, without implementations, for measuring a listing. */
const read = {
  access: "read",
  timing: "sync",
  intent: "inspect",
  output: z.object({}),
  run: () => ({}),
} as const;
const write = { ...read, access: "write", intent: "apply", destructive: true } as const;
const paging = pagingInput(200, 1000);
const here = [{ title: "Here", input: { uri: "README.md" } }] as const;

const Edit = z.union([
  z.strictObject({ op: z.literal("replace"), old: z.string(), new: z.string(), count: z.int().optional() }),
  z.strictObject({ op: z.literal("insert"), line: z.int().min(0), text: z.string() }),
  z.strictObject({ op: z.literal("delete"), range: Range }),
]);
const Encoding = z.enum(["utf-8", "base64", "auto"]);

export const fs = defineTool({
  name: "fs",
  summary: "Files of the workspace: bytes, paths, edits and text search.",
  actions: {
    read: action({
      ...read,
      summary: "Read a file, a part of it, or many files.",
      input: z.strictObject({
        uri: z.union([Uri, z.array(Uri).min(1).max(100)]).describe("file:/// URI or path, or a list of them"),
        range: Range.optional().describe("Lines and columns from 0, end exclusive"),
        encoding: Encoding.default("auto"),
        max_bytes: z.int().min(1).max(1_000_000).default(32_768).describe("How much text to answer with"),
      }),
      examples: here,
    }),
    write: action({
      ...write,
      summary: "Create a file.",
      input: z.strictObject({
        uri: Uri,
        content: z.string(),
        encoding: z.enum(["utf-8", "base64"]).optional(),
      }),
      examples: [{ title: "A file", input: { uri: "a.txt", content: "a" } }],
    }),
    stat: action({ ...read, summary: "What is there.", input: z.strictObject({ uri: Uri }), examples: here }),
    list: action({
      ...read,
      summary: "The entries of a folder.",
      input: z.strictObject({
        uri: Uri.default("."),
        depth: z.int().min(1).max(64).default(1).describe("How many levels down"),
        pattern: z.string().optional().describe("Glob on the path"),
        include_ignored: z.boolean().default(false),
        kind: z.enum(["file", "directory", "link"]).optional(),
        ...paging,
      }),
      examples: here,
    }),
    mkdir: action({
      ...write,
      summary: "Make a folder.",
      input: z.strictObject({ uri: Uri }),
      examples: here,
    }),
    rm: action({
      ...write,
      summary: "Remove a file or folder.",
      input: z.strictObject({
        uri: Uri,
        confirm: z.literal(true).optional(),
        recursive: z.boolean().default(false),
      }),
      examples: here,
    }),
    apply_patch: action({
      ...write,
      summary: "Change files: all of them or none.",
      input: z.strictObject({
        uri: Uri.optional(),
        patch: z
          .union([z.string(), z.array(Edit).min(1)])
          .describe("Unified diff, *** Begin Patch, or edits"),
        base_hash: Hash.optional(),
        files: z.array(z.strictObject({ uri: Uri, base_hash: Hash })).optional(),
        dry_run: z.boolean().default(false),
      }),
      examples: [{ title: "A diff", input: { patch: "" } }],
    }),
    search_text: action({
      ...read,
      timing: "async_short",
      summary: "Find text in files.",
      input: z.strictObject({
        pattern: z.string().min(1).describe("Regular expression"),
        path: Uri.optional(),
        fixed: z.boolean().default(false).describe("Pattern is plain text"),
        case: z.enum(["smart", "sensitive", "insensitive"]).default("smart"),
        word: z.boolean().default(false),
        glob: z.string().optional().describe("Only paths that match"),
        context: z.int().min(0).max(20).default(0).describe("Lines round a match"),
        multiline: z.boolean().default(false),
        max_per_file: z.int().min(1).optional(),
        ...paging,
      }),
      examples: [{ title: "A word", input: { pattern: "main" } }],
    }),
    diff: action({
      ...read,
      summary: "What differs between two states.",
      input: z.strictObject({ hash_a: Hash.optional(), hash_b: Hash.optional(), uri: Uri.optional() }),
      examples: [{ title: "Two states", input: {} }],
    }),
  },
});

const About = z.strictObject({
  tool: z.string().optional().describe("One tool"),
  about: z.string().optional().describe("One action; all when absent"),
});

export const ws = defineTool({
  name: "ws",
  summary: "The project: what it is made of and what can be done with it.",
  actions: {
    detect: action({
      ...read,
      summary: "Languages, build, tests and entry points.",
      input: z.strictObject({ path: Uri.optional() }),
      examples: [{ title: "Here", input: {} }],
    }),
    capabilities: action({
      ...read,
      summary: "What each tool stands on.",
      input: z.strictObject({}),
      examples: [{ title: "All", input: {} }],
    }),
    help: action({ ...read, summary: "The manual.", input: About, examples: [{ title: "All", input: {} }] }),
    schema: action({
      ...read,
      summary: "JSON Schema.",
      input: About,
      examples: [{ title: "All", input: {} }],
    }),
  },
});
