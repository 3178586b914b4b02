import { setTimeout as delay } from "node:timers/promises";
import { attempt, createTopic } from "@octant/core";
import { until } from "../waits.ts";
import type { LspPublishedDiagnostics } from "./protocol.ts";

export type DiagnosticsBoard = ReturnType<typeof createDiagnosticsBoard>;

/** Some servers publish twice: quick findings at once, and slower ones a moment later. */
const SECOND_THOUGHTS_MS = 80;

/** The diagnostics that a server has pushed. */
export function createDiagnosticsBoard() {
  const board = new Map<string, { readonly at: number; readonly published: LspPublishedDiagnostics }>();
  const changes = createTopic<void>({ maxEvents: 0 });
  let count = 0;

  const find = (uri: string, mark: number, version: number) => {
    const found = board.get(canonical(uri));
    if (!found || found.at <= mark) return undefined;
    const about = found.published.version;
    return about === undefined || about >= version ? found.published.diagnostics : undefined;
  };

  return {
    publish(published: LspPublishedDiagnostics) {
      board.set(canonical(published.uri), { at: ++count, published });
      changes.publish();
    },
    /** The diagnostics of a file since `mark`; undefined when there were none in time. */
    async since(uri: string, mark: number, version: number, patienceMs: number, signal: AbortSignal) {
      const enough = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      const isThere = () => find(uri, mark, version) !== undefined;
      if (!isThere()) {
        await until(isThere, changes, enough);
        await delay(SECOND_THOUGHTS_MS, undefined, { signal }).catch(() => {});
      }
      signal.throwIfAborted();
      return find(uri, mark, version);
    },
    /** Counts publications: a later one reflects a later state of the server. */
    mark: () => count,
    forget: (uri?: string) => void (uri === undefined ? board.clear() : board.delete(canonical(uri))),
  };
}

/** Servers spell the same uri in their own ways: some encode more characters than others. */
const canonical = (uri: string): string => attempt(() => decodeURIComponent(uri)) ?? uri;
