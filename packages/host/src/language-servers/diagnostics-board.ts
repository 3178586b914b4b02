import { setTimeout as delay } from "node:timers/promises";
import type { LspDiagnostic, LspPublishedDiagnostics } from "./protocol.ts";

/** The diagnostics that a server has pushed. */
export interface DiagnosticsBoard {
  publish(published: LspPublishedDiagnostics): void;
  /** The diagnostics of a file since `mark`; undefined when there were none in time. */
  since(
    uri: string,
    mark: number,
    version: number,
    patienceMs: number,
    signal: AbortSignal,
  ): Promise<readonly LspDiagnostic[] | undefined>;
  /** Counts publications: a later one reflects a later state of the server. */
  mark(): number;
  forget(uri?: string): void;
}

/** Some servers publish twice: what they see at once, and a moment later what took longer to find. */
const SECOND_THOUGHTS_MS = 80;

export function createDiagnosticsBoard(): DiagnosticsBoard {
  const board = new Map<string, { readonly at: number; readonly published: LspPublishedDiagnostics }>();
  const waiting = new Set<() => void>();
  let count = 0;

  const find = (uri: string, mark: number, version: number) => {
    const found = board.get(canonical(uri));
    if (!found || found.at <= mark) return undefined;
    const about = found.published.version;
    return about === undefined || about >= version ? found.published.diagnostics : undefined;
  };

  return {
    publish(published) {
      board.set(canonical(published.uri), { at: ++count, published });
      for (const look of waiting) look();
    },
    async since(uri, mark, version, patienceMs, signal) {
      const enough = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      const isThere = () => find(uri, mark, version) !== undefined;
      if (!isThere()) {
        await until(isThere, waiting, enough);
        await delay(SECOND_THOUGHTS_MS, undefined, { signal }).catch(() => {});
      }
      signal.throwIfAborted();
      return find(uri, mark, version);
    },
    mark: () => count,
    forget: (uri) => void (uri === undefined ? board.clear() : board.delete(canonical(uri))),
  };
}

const until = (isMet: () => boolean, waiting: Set<() => void>, enough: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      waiting.delete(look);
      enough.removeEventListener("abort", finish);
      resolve();
    };
    const look = () => isMet() && finish();
    if (enough.aborted) return resolve();
    waiting.add(look);
    enough.addEventListener("abort", finish);
  });

/** Servers spell the same uri in their own ways: some encode more characters than others. */
function canonical(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
