import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { createPathList, findPaths, type PathList } from "./fuzzy-paths.ts";
import type { OpenedAgent } from "./open-agent.ts";

const CALLER = { id: "chat-completion", access: "read", isPerson: true } as const;
const MAX_PATHS = 40;
const MAX_SYMBOLS = 8;
/** A list that is older is read again in the background. */
const FRESH_MS = 3_000;
/** Paths do not wait for symbols, which may have to be indexed first. */
const SYMBOLS_MS = 150;
const MAX_SEARCH_MS = 10_000;
const MIN_SYMBOL_CHARS = 2;

/** A path, or a symbol as `path#name`. */
export interface Mention {
  readonly text: string;
  readonly detail?: string;
}

type Opened = Pick<OpenedAgent, "octant" | "host" | "isRemote">;

/** Finds files, folders and symbols by any part of their path or name. */
export function createMentionFinder(opened: Opened): (typed: string) => Promise<readonly Mention[]> {
  let list: Promise<PathList> | undefined;
  let listedAt = Number.NEGATIVE_INFINITY;
  const refresh = () => {
    listedAt = performance.now();
    // A folder that cannot be listed has nothing to offer.
    const next = listFiles(opened).then(createPathList, () => createPathList([]));
    // Until the new list is complete, the old one answers.
    list ??= next;
    void next.then(() => {
      list = next;
    });
  };
  return async (typed) => {
    if (performance.now() - listedAt > FRESH_MS) refresh();
    const found = findSymbols(opened, typed);
    const paths = findPaths((await list) ?? createPathList([]), typed, MAX_PATHS);
    const symbols = await Promise.race([found, ...(paths.length > 0 ? [delay(SYMBOLS_MS, [])] : [])]);
    return [...paths.map((text) => ({ text })), ...symbols];
  };
}

/** Relative to the first root. */
async function listFiles({ octant, host, isRemote }: Opened): Promise<readonly string[]> {
  if (isRemote) return listRemote(host);
  const { ripgrep, confinement } = octant.workspace;
  const { signal } = new AbortController();
  const found: string[] = [];
  const folder = confinement.start.replace(/\/?$/, "/");
  for await (const paths of ripgrep.files(confinement.start, { signal }))
    for (const path of paths) found.push(path.startsWith(folder) ? path.slice(folder.length) : path);
  return found;
}

const Listed = z.object({ entries: z.array(z.object({ uri: z.string() })) });

/** The first files of a host. */
async function listRemote(host: OpenedAgent["host"]): Promise<readonly string[]> {
  const input = { uri: ".", depth: 12, kind: "file", limit: 1000 };
  const { envelope } = await host.dispatch({ tool: "fs", action: "list", input }, { caller: CALLER });
  return (Listed.safeParse(envelope.data).data?.entries ?? []).map(({ uri }) => toPath(uri, host));
}

/** A person does not mention the keys of data files, such as a lock file, which may be most of the symbols. */
const KEYS_PER_SYMBOL = 10;

const Found = z.object({
  results: z.array(z.object({ uri: z.string(), name: z.string(), kind: z.string() })),
});

async function findSymbols({ host }: Opened, typed: string): Promise<readonly Mention[]> {
  if (typed.length < MIN_SYMBOL_CHARS || !/^[\p{L}\p{N}_$.]+$/u.test(typed)) return [];
  const call = {
    tool: "code",
    action: "search_symbol",
    input: { query: typed, limit: MAX_SYMBOLS * KEYS_PER_SYMBOL },
  };
  const options = { caller: CALLER, signal: AbortSignal.timeout(MAX_SEARCH_MS) };
  const reply = await host.dispatch(call, options).catch(() => undefined);
  const { results = [] } = Found.safeParse(reply?.envelope.data).data ?? {};
  const named = results.filter(({ kind }) => kind !== "key").slice(0, MAX_SYMBOLS);
  return named.map(({ uri, name, kind }) => ({ text: `${toPath(uri, host)}#${name}`, detail: kind }));
}

function toPath(uri: string, { roots }: Pick<OpenedAgent["host"], "roots">): string {
  const path = fileURLToPath(uri);
  const start = roots[0] === undefined ? "" : `${fileURLToPath(roots[0]).replace(/\/$/, "")}/`;
  return path.startsWith(start) ? path.slice(start.length) : path;
}
