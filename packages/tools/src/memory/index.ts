import {
  type ActionText,
  action,
  counted,
  defineTool,
  invalidArgument,
  newHandle,
  SymbolId,
  ToolError,
  Uri,
} from "@octant/core";
import type { Workspace } from "@octant/host";
import { createTermCutter, type Embedder, type ParserPool } from "@octant/search";
import { z } from "zod";
import { Also } from "../also.ts";
import { APPLY, INSPECT } from "../kinds.ts";
import { createLinks } from "./links.ts";
import { type ListFilter, MemoryId, MemoryItem, type OpenMemories, SCOPES } from "./memory-store.ts";
import { createRecall } from "./recall.ts";
import { statesSecret } from "./states-secret.ts";
import { openStores, type StoreOptions } from "./stores.ts";

interface MemoryOptions {
  readonly workspace: Pick<Workspace, "state" | "files" | "confinement">;
  readonly parsers: ParserPool;
  /** The embedding model of the person's search settings. */
  readonly embedder?: Embedder;
  /** Stores new memories of the project as Markdown files in it. */
  readonly shared: boolean;
  readonly loadTrust: StoreOptions["loadTrust"];
  /** Opens the stores of the project and of all projects; in the state folder when absent. */
  readonly openMemories?: OpenMemories | undefined;
  /** Whether a text contains a secret, which is never stored. */
  readonly holdsSecret: (text: string) => boolean;
}

const MAX_TEXT_CHARS = 8_000;
const MAX_ITEMS = 100;
const DEFAULT_ITEMS = 10;
const SUMMARY_CHARS = 8_000;
const EXAMPLE_ID = "mem_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";

const Scope = z.enum(SCOPES);
const Text = z.string().min(1).max(MAX_TEXT_CHARS);
const Item = MemoryItem.extend({
  changed_since: z
    .array(z.string())
    .optional()
    .describe("Linked files and symbols that have changed since; verify before relying on it"),
});
const Memories = z.object({
  memories: z.array(Item).readonly(),
  note: z.string().optional().describe("About files of the project that are not trusted yet"),
  without_model: z.string().optional().describe("Why the embedding model failed; the word table answered"),
});
const fields = {
  tags: z.array(z.string().min(1).max(64)).max(20).optional(),
  terms: Also.describe("Words that a later question may use instead; recall searches them"),
  source: z.string().max(200).optional().describe("Source of the information"),
  confidence: z.number().min(0).max(1).optional(),
  links: z.array(Uri).max(20).optional().describe("Files it is about; their hashes are stored"),
  symbols: z.array(SymbolId).max(20).optional().describe("Symbols it is about, likewise"),
};
const scopes = z
  .array(Scope)
  .min(1)
  .default([...SCOPES]);
const limit = z.int().min(1).max(MAX_ITEMS).default(DEFAULT_ITEMS);

/** Facts worth remembering beyond one conversation. */
export const memory = (options: MemoryOptions) => {
  const { workspace, parsers, embedder, shared, loadTrust, openMemories, holdsSecret } = options;
  const links = createLinks({ ...workspace, parsers });
  const cut = createTermCutter();
  const stores = openStores(workspace, { shared, loadTrust, cut, openMemories });
  const recall = createRecall({ cut, ...(embedder && { embedder }) });
  const find = async (memory_id: string, owner: string) => {
    for (const store of await stores.all()) {
      const item = await store.get(memory_id, owner);
      if (item) return { store, item };
    }
    throw new ToolError("NOT_FOUND", `there is no memory '${memory_id}'; memory.recall finds them`, {});
  };
  const checkSecret = (text: string) => {
    if (!holdsSecret(text) && !statesSecret(text)) return;
    throw invalidArgument("text", "the text contains a secret, which memory never stores; leave it out");
  };
  const withChanges = async (item: MemoryItem) => {
    const changed = await links.changed(item);
    return { ...item, ...(changed.length > 0 && { changed_since: [...changed] }) };
  };
  const toAnswer = (memories: readonly z.output<typeof Item>[]) => {
    const waiting = stores.waiting();
    if (waiting === 0) return { memories };
    const files = counted(waiting, "file in .hanzo/memory is", "files in .hanzo/memory are");
    return { memories, note: `${files} left out until the person trusts the content (octant trust)` };
  };
  /** Newest first. */
  const list = async (filter: ListFilter) => {
    const found = (await Promise.all((await stores.all()).map((store) => store.list(filter)))).flat();
    const newest = found.toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, filter.limit);
    return Promise.all(newest.map(withChanges));
  };

  return defineTool({
    name: "memory",
    summary: "Store and recall notes and facts for this session, this project, or all projects.",
    listing: "brief",
    refs: {
      memory: async (ref, owner) => {
        const { item } = await find(ref.slice("memory:".length), owner);
        return Buffer.from(item.text);
      },
    },
    actions: {
      recall: action({
        summary: "Find memories by words and meaning, best first.",
        ...INSPECT,
        input: z.strictObject({
          query: z.string().min(1).max(1_000),
          also: Also.describe(
            "The question in other words: give 3-6 synonyms and likely terms of the answer",
          ),
          scopes,
          limit,
        }),
        output: Memories,
        examples: [
          {
            title: "Recall by topic",
            input: { query: "how are releases made", also: ["publish a version", "tag", "changelog"] },
          },
        ],
        text: listText,
        async run({ query, also = [], ...filter }, { caller: { id: owner }, signal }) {
          let withoutModel: string | undefined;
          const onWithoutModel = (reason: string) => {
            withoutModel = reason;
          };
          const question = { query, also, onWithoutModel };
          const found = await recall(await stores.all(), question, { ...filter, owner }, signal);
          const answer = toAnswer(await Promise.all(found.map(withChanges)));
          return { ...answer, ...(withoutModel !== undefined && { without_model: withoutModel }) };
        },
      }),
      create: action({
        summary: "Store a note or a fact.",
        ...APPLY,
        input: z.strictObject({
          text: Text,
          scope: Scope.default("project"),
          kind: z.enum(["note", "fact"]).default("note"),
          ...fields,
        }),
        output: Item,
        errors: ["NO_SPACE", "IO_ERROR", "OUTSIDE_WORKSPACE"],
        examples: [
          {
            title: "A fact",
            input: {
              text: "Releases are tagged by CI.",
              kind: "fact",
              terms: ["publish", "ship a version", "pipeline"],
            },
          },
        ],
        async run(
          { text, scope, kind, tags = [], terms, source = "agent", confidence = 0.8, ...about },
          { caller },
        ) {
          checkSecret([text, source, ...tags, ...(terms ?? [])].join("\n"));
          const now = new Date().toISOString();
          const item: MemoryItem = {
            memory_id: newHandle("mem", Date.now()),
            scope,
            kind,
            text,
            tags,
            ...(terms && { terms }),
            source,
            confidence,
            created_at: now,
            updated_at: now,
            links: await links.look([...(about.links ?? []), ...(about.symbols ?? [])]),
          };
          await (await stores.of(scope)).put(item, caller.id);
          return item;
        },
      }),
      update: action({
        summary: "Update a memory and refresh its links.",
        ...APPLY,
        input: z.strictObject({ memory_id: MemoryId, text: Text.optional(), ...fields }),
        output: Item,
        errors: ["NOT_FOUND", "OUTSIDE_WORKSPACE"],
        examples: [
          { title: "Correct it", input: { memory_id: EXAMPLE_ID, confidence: 0.2 }, fails: "NOT_FOUND" },
        ],
        async run({ memory_id, links: files, symbols, ...given }, { caller }) {
          const { store, item } = await find(memory_id, caller.id);
          const changes = Object.fromEntries(
            Object.entries(given).filter(([, value]) => value !== undefined),
          );
          const before = item.links.map(({ uri }) => uri);
          const changed: MemoryItem = {
            ...item,
            ...changes,
            updated_at: new Date().toISOString(),
            links: await links.look(files || symbols ? [...(files ?? []), ...(symbols ?? [])] : before),
          };
          checkSecret([changed.text, changed.source, ...changed.tags, ...(changed.terms ?? [])].join("\n"));
          await store.put(changed, caller.id);
          return changed;
        },
      }),
      delete: action({
        summary: "Delete a memory.",
        ...APPLY,
        destructive: true,
        input: z.strictObject({ memory_id: MemoryId }),
        output: z.object({ memory_id: MemoryId, deleted: z.literal(true) }),
        errors: ["NOT_FOUND"],
        examples: [{ title: "Delete it", input: { memory_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        async run({ memory_id }, { caller }) {
          const { store } = await find(memory_id, caller.id);
          await store.remove(memory_id, caller.id);
          return { memory_id, deleted: true as const };
        },
      }),
      manage: action({
        summary: "List memories, newest first.",
        ...INSPECT,
        input: z.strictObject({ scopes, limit }),
        output: Memories,
        examples: [{ title: "List all", input: {} }],
        text: listText,
        run: async (filter, { caller: { id: owner } }) => toAnswer(await list({ ...filter, owner })),
      }),
      facts: action({
        summary: "List facts, newest first.",
        ...INSPECT,
        input: z.strictObject({ scopes, limit }),
        output: Memories,
        examples: [{ title: "List facts", input: { scopes: ["project"] } }],
        text: listText,
        run: async (filter, { caller: { id: owner } }) =>
          toAnswer(await list({ ...filter, owner, kind: "fact" })),
      }),
      summarize: action({
        summary: "Show the newest memories of a scope as one short Markdown text.",
        ...INSPECT,
        input: z.strictObject({ scope: Scope.default("project") }),
        output: Memories.pick({ note: true }).extend({
          markdown: z.string(),
          memories: z.int(),
          incomplete: z.string().optional(),
        }),
        examples: [{ title: "Of the project", input: {} }],
        async run({ scope }, { caller: { id: owner } }) {
          const items = await list({ scopes: [scope], owner, limit: MAX_ITEMS + 1 });
          let markdown = "";
          let memories = 0;
          for (const { kind, text } of items.slice(0, MAX_ITEMS)) {
            const line = `- ${kind === "fact" ? "**fact** " : ""}${text.replaceAll(/\s+/g, " ")}\n`;
            if (markdown.length + line.length > SUMMARY_CHARS) break;
            markdown += line;
            memories += 1;
          }
          return {
            ...toAnswer([]),
            markdown,
            memories,
            ...(memories < items.length && {
              incomplete: "older memories are left out; memory.recall finds them",
            }),
          };
        },
      }),
    },
  });
};

const listText = ({ memories, without_model }: z.output<typeof Memories>): ActionText => ({
  notes: [without_model && `by words only: ${without_model}`],
  body:
    memories
      .map(
        ({ memory_id, scope, kind, text, updated_at, changed_since }) =>
          `${memory_id} (${scope} ${kind}, ${updated_at.slice(0, 10)})${changed_since ? ` [changed since: ${changed_since.join(", ")}]` : ""}: ${text}`,
      )
      .join("\n") || "no memory matches",
});
