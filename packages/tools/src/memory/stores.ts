import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Confinement, errnoOf, hashOf, pathToUri, readSourceText, type StateFolder } from "@octant/host";
import type { TermCutter } from "@octant/search";
import { z } from "zod";
import {
  createMemoryIndex,
  type MemoryItem,
  type MemoryStore,
  OF_PROJECT,
  type OpenMemories,
} from "./memory-store.ts";
import { openMemoryStore } from "./sqlite-memory-store.ts";

export interface StoreOptions {
  readonly shared: boolean;
  /** The person's trust in files of the project as it is now. */
  readonly loadTrust: () => (file: InstructionFile) => boolean;
  readonly cut: TermCutter;
  /** Opens the stores of the project and of all projects; SQLite files in the state folder when absent. */
  readonly openMemories?: OpenMemories | undefined;
}

interface InstructionFile {
  /** The root. */
  readonly folder: string;
  readonly path: string;
  readonly hash: string;
}

/**
 * The memory stores by scope: session memories end with the process, the project's are private or shared, global ones
 * are for all projects.
 */
export function openStores(
  { state, confinement }: { readonly state: StateFolder; readonly confinement: Confinement },
  { shared: isShared, loadTrust, cut, openMemories }: StoreOptions,
) {
  const index = createMemoryIndex(cut);
  const folderOf = { project: () => state.folder("memory"), global: () => globalFolder(state) };
  const openIn: OpenMemories = openMemories ?? ((scope) => openMemoryStore(index, folderOf[scope]()));
  const folder = isShared ? createSharedFolder(confinement, createTrust(state, loadTrust)) : undefined;
  const open = async () => {
    const [session, own, files, global] = await Promise.all([
      openMemoryStore(index),
      openIn("project", index),
      openMemoryStore(index),
      openIn("global", index),
    ]);
    const shared: MemoryStore = {
      ...files,
      // The file is authoritative; the store follows it.
      put: async (item) => folder?.put(item),
      async remove(memory_id) {
        folder?.remove(memory_id);
        return true;
      },
    };
    return { session, own, files, shared, global };
  };
  let opened: ReturnType<typeof open> | undefined;
  let synced: Promise<unknown> = Promise.resolve();
  const use = async () => {
    opened ??= open();
    const stores = await opened;
    // One at a time: a look at the folder that began earlier would remove what a later one has added.
    const sync = synced.then(() => folder?.sync(stores.files));
    synced = sync.catch(() => {});
    await sync;
    return stores;
  };
  return {
    /** Up to date with the shared files. */
    async all(): Promise<readonly MemoryStore[]> {
      const { session, own, shared, global } = await use();
      return [session, own, shared, global];
    },
    /** How many shared files wait for the person's trust. */
    waiting: (): number => folder?.waiting() ?? 0,
    /** The store for new memories of this scope. */
    async of(scope: MemoryItem["scope"]): Promise<MemoryStore> {
      const stores = await use();
      return scope === "project" ? stores[folder ? "shared" : "own"] : stores[scope];
    },
  };
}

/** Next to the folders of all workspaces. */
function globalFolder({ base }: StateFolder): string {
  const folder = join(base, "memory");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** In the first root; people can commit, read and edit it. */
export const MEMORY_FOLDER = ".hanzo/memory";
const NAME = /^(mem_[0-9a-z]+)\.md$/;
const MAX_FILES = 20_000;
const MAX_BYTES = 64 * 1024;
const CONFLICT = /^<{7} [\s\S]*^>{7} /m;

const Head = z.object({
  kind: z.enum(["note", "fact"]).catch("note"),
  tags: z.array(z.string()).catch([]),
  terms: z.array(z.string()).optional().catch(undefined),
  source: z.string().catch(MEMORY_FOLDER),
  confidence: z.number().min(0).max(1).catch(0.5),
  created_at: z.string().catch(""),
  updated_at: z.string().catch(""),
  links: z.array(z.object({ path: z.string(), hash: z.string().nullable() })).catch([]),
});

type Trust = ReturnType<typeof createTrust>;

/** Files that this installation has written, or that the person trusts: a model reads memories as facts. */
function createTrust(state: StateFolder, loadTrust: StoreOptions["loadTrust"]) {
  const own = once(() => loadOwnMemoryFiles(state));
  return {
    add(hash: string): void {
      own().add(hash);
      appendFileSync(ownFilesIn(state), `${hash}\n`, { mode: 0o600 });
    },
    /** A judge for one look at the files. */
    load() {
      const byPerson = once(loadTrust);
      return (one: InstructionFile): boolean => own().has(one.hash) || byPerson()(one);
    },
  };
}

const ownFilesIn = (state: StateFolder): string => join(state.folder("memory"), "shared-files");

/** The hashes of the shared files that this installation has written; they need no trust. */
export const loadOwnMemoryFiles = (state: StateFolder): Set<string> =>
  new Set(readFileSync(ownFilesIn(state), { encoding: "utf8", flag: "a+" }).split("\n").filter(Boolean));

/** The project's memory as Markdown files, one per item. */
function createSharedFolder(confinement: Confinement, trust: Trust) {
  const root = confinement.roots[0] ?? "/";
  const folder = join(root, MEMORY_FOLDER);
  const known = new Map<string, string>();
  let waiting = 0;
  const rootUri = pathToUri(root);
  const names = (): string[] => {
    try {
      using opened = confinement.openFolder(folder);
      return readdirSync(opened.at("."), "utf8")
        .filter((name) => NAME.test(name))
        .slice(0, MAX_FILES);
    } catch (cause) {
      if (isMissing(cause)) return [];
      throw cause;
    }
  };
  return {
    waiting: () => waiting,
    put(item: MemoryItem): void {
      using opened = confinement.makeFolder(folder);
      const draft = `.${randomUUID()}`;
      const bytes = Buffer.from(toMarkdown(item, rootUri));
      try {
        trust.add(hashOf(bytes));
        writeFileSync(opened.at(draft), bytes, { flag: "wx", mode: 0o644 });
        renameSync(opened.at(draft), opened.at(`${item.memory_id}.md`));
      } catch (cause) {
        rmSync(opened.at(draft), { force: true });
        throw cause;
      }
    },
    remove(memory_id: string): void {
      using opened = confinement.makeFolder(folder);
      rmSync(opened.at(`${memory_id}.md`), { force: true });
    },
    /** Updates a store from the files. */
    async sync(store: MemoryStore): Promise<void> {
      const found = new Set<string>();
      const isTrusted = trust.load();
      let untrusted = 0;
      for (const name of names()) {
        const [, memory_id = ""] = NAME.exec(name) ?? [];
        const source = readText(confinement, join(folder, name));
        if (!source) continue;
        if (!isTrusted({ folder: root, path: `${MEMORY_FOLDER}/${name}`, hash: source.hash })) {
          untrusted += 1;
          continue;
        }
        found.add(memory_id);
        if (known.get(memory_id) === source.hash) continue;
        await store.put(parseMarkdown(memory_id, source.text, rootUri), OF_PROJECT);
        known.set(memory_id, source.hash);
      }
      waiting = untrusted;
      for (const memory_id of known.keys()) {
        if (found.has(memory_id)) continue;
        await store.remove(memory_id, OF_PROJECT);
        known.delete(memory_id);
      }
    },
  };
}

/** undefined for a file that is missing, a link, or not text. */
function readText(confinement: Confinement, path: string) {
  try {
    const source = readSourceText(confinement, path);
    return source.text.length > MAX_BYTES ? undefined : source;
  } catch {
    return undefined;
  }
}

/** A header of `key: JSON` lines, then the text. Links are relative, so that they are valid in every clone. */
function toMarkdown(item: MemoryItem, rootUri: string): string {
  const { kind, tags, terms, source, confidence, created_at, updated_at, links, text } = item;
  const head = {
    kind,
    tags,
    ...(terms && { terms }),
    source,
    confidence,
    created_at,
    updated_at,
    links: links.map(({ uri, hash }) => ({ path: uri.replace(`${rootUri}/`, ""), hash })),
  };
  const lines = Object.entries(head).map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return `---\n${lines.join("\n")}\n---\n${text}\n`;
}

/** A person may have written it: missing or invalid header fields get their defaults. */
function parseMarkdown(memory_id: string, markdown: string, rootUri: string): MemoryItem {
  const [, head = "", text = markdown] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(markdown) ?? [];
  const fields = Object.fromEntries(
    [...head.matchAll(/^(\w+):\s*(.*)$/gm)].map(([, key = "", value = ""]) => [key, parseValue(value)]),
  );
  const { links, ...rest } = Head.parse(fields);
  const isConflict = CONFLICT.test(markdown);
  return {
    memory_id,
    scope: "project",
    ...rest,
    ...(isConflict && { confidence: 0 }),
    text: `${isConflict ? `[unresolved merge conflict in ${MEMORY_FOLDER}/${memory_id}.md]\n` : ""}${text.trim()}`,
    links: links.map(({ path, hash }) => ({
      uri: /^[a-z]+:/.test(path) ? path : `${rootUri}/${path}`,
      hash,
    })),
  };
}

/** As toMarkdown writes it, or a plain list or word of a person. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const [, list] = /^\[(.*)\]$/.exec(text) ?? [];
    return list === undefined ? text : list.split(",").map((word) => word.trim());
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const isMissing = (cause: unknown): boolean =>
  errnoOf(cause) === "ENOENT" ||
  (typeof cause === "object" && cause !== null && "code" in cause && cause.code === "NOT_FOUND");
