import { createParserPool, type ParserPool } from "./parser-pool.ts";
import { createUnparsableFiles } from "./unparsable-files.ts";

/** A parser pool that starts on demand and stops after a period without use. */
export interface SharedParsers {
  /** The pool stays until the lease is disposed. */
  lease(): LeasedParsers;
  close(): Promise<void>;
}

export interface LeasedParsers extends Disposable {
  readonly pool: ParserPool;
}

/** Starting a parser and loading its grammars takes half a second; an idle one takes some 30 MB. */
const IDLE_MS = 20_000;

export function createSharedParsers(size: number): SharedParsers {
  const unparsable = createUnparsableFiles();
  let pool: ParserPool | undefined;
  let timer: NodeJS.Timeout | undefined;
  let users = 0;
  const close = async () => {
    const closing = pool;
    pool = undefined;
    clearTimeout(timer);
    await closing?.close();
  };
  return {
    lease() {
      pool ??= createParserPool(size, unparsable);
      users++;
      clearTimeout(timer);
      return {
        pool,
        [Symbol.dispose]() {
          if (--users > 0) return;
          timer = setTimeout(close, IDLE_MS);
          timer.unref();
        },
      };
    },
    close,
  };
}
