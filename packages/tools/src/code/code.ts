import type { Context } from "@octant/core";
import {
  createLanguageClient,
  type LanguageServers,
  type Path,
  ServerRefused,
  ServerUnavailable,
  type Workspace,
} from "@octant/host";
import { languageOf, type ParserPool } from "@octant/search";
import type { CodeBackend } from "./backend.ts";
import { createHeuristic } from "./backends/heuristic.ts";
import { createTreeSitter } from "./backends/tree-sitter.ts";
import { createDiagnosticsAfterEdit } from "./diagnostics-after-edit.ts";
import { createSources } from "./sources.ts";
import { createSymbolSearch, type SymbolIndex } from "./symbol-search.ts";

/** The dependencies of the code tool. */
export interface CodeOptions {
  readonly workspace: Workspace;
  readonly servers: LanguageServers;
  /** The index of the whole project. */
  readonly index: SymbolIndex;
  readonly parsers: ParserPool;
}

/** The shared dependencies of the actions. */
export type Code = ReturnType<typeof createCode>;

/** `quick` is for questions that a parser answers as well as a server, which may have to start first. */
export type Order = "best" | "quick";

export function createCode({ workspace, servers, index, parsers }: CodeOptions) {
  const sources = createSources(workspace, parsers);
  const symbols = createSymbolSearch(workspace, index);
  const treeSitter = createTreeSitter(sources, symbols);
  const heuristic = createHeuristic(workspace, sources);
  const server = async function* (path: Path): AsyncIterable<CodeBackend> {
    const found = await servers.find(path);
    if ("server" in found) yield createLanguageClient(found.server);
  };
  return {
    workspace,
    servers,
    sources,
    symbols,
    diagnosticsAfterEdit: createDiagnosticsAfterEdit({ workspace, servers }),
    /** The backends for a file, best first. Later ones are created only when needed. */
    async *backends(path: Path, order: Order = "best"): AsyncIterable<CodeBackend> {
      if (order === "best") yield* server(path);
      if (languageOf(path)) yield treeSitter;
      if (order === "quick") yield* server(path);
      yield heuristic;
    },
  };
}

/** An answer and its source. */
export interface Answered<T> {
  /** undefined when no backend can answer. */
  readonly answer: T | undefined;
  readonly backend: CodeBackend | undefined;
  /** Why a better backend did not give the answer. */
  readonly passedOver: string | undefined;
}

export interface AskOptions<T> {
  readonly order?: Order;
  /** An empty answer is compared with that of the next backend. */
  isEmpty?(answer: T): boolean;
}

/**
 * Asks the backends in turn until one answers, and records which one did. undefined is not an answer, and an empty one
 * counts only if the others have none either. A server that has crashed, or does not understand the position, is
 * skipped.
 */
export async function firstAnswer<T>(
  code: Code,
  path: Path,
  ctx: Pick<Context, "backend" | "signal" | "progress">,
  ask: (backend: CodeBackend) => Promise<T | undefined> | undefined,
  { order, isEmpty = () => false }: AskOptions<T> = {},
): Promise<Answered<T>> {
  let empty: { readonly answer: T; readonly backend: CodeBackend } | undefined;
  let passedOver: string | undefined;
  for await (const backend of code.backends(path, order)) {
    let steps = 0;
    const stop = backend.onWork?.((message) => ctx.progress({ progress: ++steps, message }));
    const asked = await askOne(backend, ask).finally(stop);
    ctx.signal.throwIfAborted();
    if ("answer" in asked && !isEmpty(asked.answer)) {
      ctx.backend(backend.name);
      return { answer: asked.answer, backend, passedOver };
    }
    if ("answer" in asked) empty ??= { answer: asked.answer, backend };
    if (!backend.matchesNames) passedOver ??= whyNot(backend, path, asked);
  }
  if (empty) ctx.backend(empty.backend.name);
  return { answer: empty?.answer, backend: empty?.backend, passedOver: undefined };
}

type Asked<T> = { readonly answer: T } | { readonly failure: string } | { readonly isUnable: true };

async function askOne<T>(
  backend: CodeBackend,
  ask: (backend: CodeBackend) => Promise<T | undefined> | undefined,
): Promise<Asked<T>> {
  try {
    const answer = await ask(backend);
    return answer === undefined ? { isUnable: true } : { answer };
  } catch (cause) {
    if (cause instanceof ServerUnavailable || cause instanceof ServerRefused)
      return { failure: cause.message };
    throw cause;
  }
}

function whyNot({ name, lacks, trouble }: CodeBackend, path: Path, asked: Asked<unknown>): string {
  if ("failure" in asked) return asked.failure;
  const problem = trouble?.();
  if (problem !== undefined) return cannotLoad(name, problem);
  return lacks?.(path) ?? ("answer" in asked ? `${name} found nothing here` : `${name} cannot answer this`);
}

export const cannotLoad = (server: string, trouble: string): string =>
  `${server} cannot load the project: ${trouble}`;
