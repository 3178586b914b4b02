import { action, defineTool, Hash, invalidArgument, ofKind, pagingInput } from "@octant/core";
import { Artifact, ArtifactId } from "@octant/host";
import { z } from "zod";
import { APPLY, INSPECT } from "../kinds.ts";
import {
  contentInput,
  isText,
  readContent,
  readInput,
  readOutput,
  type StoreWorkspace,
  storeContent,
} from "./content.ts";
import { EXAMPLE_ARTIFACT, Tag } from "./target.ts";

export const artifact = (workspace: StoreWorkspace) =>
  defineTool({
    name: "artifact",
    summary: "Named results with tags, creator and parent artifacts.",
    actions: {
      upload: action({
        summary: "Store a result: its content, or the hash of content stored with cas.store.",
        ...APPLY,
        input: z.strictObject({
          name: z.string().min(1).max(256),
          ...contentInput,
          hash: ofKind("subject", Hash).optional().describe("Hash of stored content, instead of content"),
          mime: z
            .string()
            .min(1)
            .max(128)
            .optional()
            .describe("Default: text/plain for UTF-8 text, else application/octet-stream"),
          tags: z.array(Tag).max(64).default([]),
          parents: z.array(ArtifactId).max(64).default([]).describe("Parent artifacts"),
          creator: z.string().min(1).max(128).optional().describe("Default: you"),
        }),
        output: z.object({ artifact: Artifact }),
        errors: ["NOT_FOUND", "TOO_LARGE", "NO_SPACE", "IO_ERROR"],
        examples: [
          {
            title: "A text with a tag",
            input: { name: "notes.txt", content: "hello\n", mime: "text/plain", tags: ["draft"] },
          },
        ],
        async run({ name, hash, mime, tags, parents, creator, ...content }, ctx) {
          const store = workspace.storeOf(ctx.caller.id);
          if (hash !== undefined && content.content !== undefined)
            throw invalidArgument("hash", "give content or the hash of stored content, not both");
          const stored =
            hash === undefined ? await storeContent(workspace, content, ctx) : store.content.stat(hash);
          const fields = {
            name,
            ...stored,
            tags,
            parents,
            creator: creator ?? ctx.caller.id,
            mime: mime ?? (isText(store, stored) ? "text/plain" : "application/octet-stream"),
          };
          return { artifact: store.artifacts.add(fields, Date.now()) };
        },
      }),
      get: action({
        summary: "Read an artifact with its content.",
        ...INSPECT,
        input: z.strictObject({ artifact_id: ArtifactId, ...readInput }),
        output: z.object({ artifact: Artifact, ...readOutput }),
        errors: ["NOT_FOUND", "NOT_TEXT", "IO_ERROR"],
        examples: [{ title: "Read it", input: { artifact_id: EXAMPLE_ARTIFACT }, fails: "NOT_FOUND" }],
        run({ artifact_id, ...input }, ctx) {
          const found = workspace.storeOf(ctx.caller.id).artifacts.get(artifact_id);
          return { artifact: found, ...readContent(workspace, found.hash, input, ctx, found.mime) };
        },
      }),
      list: action({
        summary: "List artifacts, newest first.",
        ...INSPECT,
        input: z.strictObject({
          tags: z.array(Tag).max(16).optional().describe("Having all of these tags"),
          creator: z.string().optional(),
          parent: ArtifactId.optional().describe("Children of this artifact"),
          ...pagingInput(50, 500),
        }),
        output: z.object({ artifacts: z.array(Artifact) }),
        errors: ["INVALID_CURSOR"],
        examples: [{ title: "Drafts", input: { tags: ["draft"] } }],
        run({ limit, cursor: _cursor, ...filter }, ctx) {
          const before = ctx.resume(ArtifactId);
          const { artifacts } = workspace.storeOf(ctx.caller.id);
          const found = artifacts.list({ ...filter, before, limit: limit + 1 });
          const page = found.slice(0, limit);
          if (found.length > limit) ctx.more(page.at(-1)?.artifact_id);
          return { artifacts: page };
        },
      }),
    },
  });
