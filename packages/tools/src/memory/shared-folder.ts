import { randomUUID } from "node:crypto";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Confinement, errnoOf, pathToUri, readSourceText } from "@octant/host";
import { z } from "zod";
import type { MemoryItem, MemoryStore } from "./memory-store.ts";

/** In the first root; people can commit, read and edit it. */
const FOLDER = ".hanzo/memory";
const NAME = /^(mem_[0-9a-z]+)\.md$/;
const MAX_FILES = 20_000;
const MAX_BYTES = 64 * 1024;
const OWNER = "shared";
const CONFLICT = /^<{7} [\s\S]*^>{7} /m;

const Head = z.object({
  kind: z.enum(["note", "fact"]).catch("note"),
  tags: z.array(z.string()).catch([]),
  source: z.string().catch(FOLDER),
  confidence: z.number().min(0).max(1).catch(0.5),
  created_at: z.string().catch(""),
  updated_at: z.string().catch(""),
  links: z.array(z.object({ path: z.string(), hash: z.string().nullable() })).catch([]),
});

/** The project's memory as Markdown files, one per item. */
export function createSharedFolder(confinement: Confinement) {
  const root = confinement.roots[0] ?? "/";
  const folder = join(root, FOLDER);
  const known = new Map<string, string>();
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
    put(item: MemoryItem): void {
      using opened = confinement.makeFolder(folder);
      const draft = `.${randomUUID()}`;
      try {
        writeFileSync(opened.at(draft), toMarkdown(item, rootUri), { flag: "wx", mode: 0o644 });
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
    sync(store: MemoryStore): void {
      const found = new Set<string>();
      for (const name of names()) {
        const [, memory_id = ""] = NAME.exec(name) ?? [];
        const source = readText(confinement, join(folder, name));
        if (!source) continue;
        found.add(memory_id);
        if (known.get(memory_id) === source.hash) continue;
        store.put(parseMarkdown(memory_id, source.text, rootUri), OWNER);
        known.set(memory_id, source.hash);
      }
      for (const memory_id of known.keys()) {
        if (found.has(memory_id)) continue;
        store.remove(memory_id, OWNER);
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
  const { kind, tags, source, confidence, created_at, updated_at, links, text } = item;
  const head = {
    ...{ kind, tags, source, confidence, created_at, updated_at },
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
    ...{ memory_id, scope: "project", ...rest },
    ...(isConflict && { confidence: 0 }),
    text: `${isConflict ? `[unresolved merge conflict in ${FOLDER}/${memory_id}.md]\n` : ""}${text.trim()}`,
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

const isMissing = (cause: unknown): boolean =>
  errnoOf(cause) === "ENOENT" ||
  (typeof cause === "object" && cause !== null && "code" in cause && cause.code === "NOT_FOUND");
