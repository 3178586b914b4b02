import { action, defineTool, Hash, ofKind } from "@octant/core";
import { z } from "zod";
import { APPLY, INSPECT } from "../kinds.ts";
import {
  contentInput,
  find,
  readContent,
  readInput,
  readOutput,
  type StoreWorkspace,
  storeContent,
} from "./content.ts";
import { EXAMPLE_HASH } from "./target.ts";

const Stored = z.object({
  hash: Hash,
  size: z.int(),
  ref: z.string().describe("Readable with fs.read, ranged and paged"),
});

export const cas = (workspace: StoreWorkspace) =>
  defineTool({
    name: "cas",
    summary: "Content stored permanently under its hash.",
    actions: {
      store: action({
        summary: "Store content and get its hash; the same content is stored once.",
        ...APPLY,
        input: z.strictObject(contentInput),
        output: Stored,
        errors: ["TOO_LARGE", "NO_SPACE", "IO_ERROR"],
        examples: [{ title: "A short text", input: { content: "hello\n" } }],
        async run(input, ctx) {
          const { hash, size } = await storeContent(workspace, input, ctx);
          return { hash, size, ref: `cas:${hash}` };
        },
      }),
      inspect: action({
        summary: "Show the size and ref of stored content.",
        ...INSPECT,
        input: z.strictObject({ hash: ofKind("subject", Hash) }),
        output: Stored,
        errors: ["NOT_FOUND", "IO_ERROR"],
        examples: [{ title: "Check stored content", input: { hash: EXAMPLE_HASH }, fails: "NOT_FOUND" }],
        run({ hash }, { caller }) {
          const { size, ref } = find(workspace, hash, caller.id);
          return { hash, size, ref };
        },
      }),
      get: action({
        summary: "Read stored content from any offset.",
        ...INSPECT,
        input: z.strictObject({ hash: ofKind("subject", Hash), ...readInput }),
        output: z.object(readOutput),
        errors: ["NOT_FOUND", "NOT_TEXT", "IO_ERROR"],
        examples: [{ title: "Read it", input: { hash: EXAMPLE_HASH }, fails: "NOT_FOUND" }],
        run: ({ hash, ...input }, ctx) =>
          readContent(workspace, hash, input, ctx, "application/octet-stream"),
      }),
    },
  });
