import { createToText, type Dispatch, type Registry } from "@octant/core";
import type { ToolExecutor } from "../tool-executor.ts";

/** A language server that is not ready by then is skipped: the next edit finds it running. */
const PATIENCE_MS = 3_000;
const MAX_FILES = 8;
const CALLER = { id: "agent-diagnostics", access: "read", isPerson: true } as const;

interface Options {
  readonly dispatch: Dispatch;
  readonly registry: Registry;
  readonly roots: readonly string[];
}

/** Reports problems in files that the model has just changed, once per state of a file. */
export function createDiagnosticsAfterEdits({
  dispatch,
  registry,
  roots,
}: Options): NonNullable<ToolExecutor["afterEdits"]> {
  const toText = createToText(registry, roots);
  const reported = new Map<string, string>();
  return async (changed, signal) => {
    if (!registry.get("code")) return undefined;
    const paths = [...new Set(changed.filter(({ hash }) => hash !== null).map(({ path }) => path))];
    const within = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const texts = await Promise.all(
      paths.slice(-MAX_FILES).map(async (uri) => {
        const { envelope, text: read } = await dispatch(
          { tool: "code", action: "diagnostics", input: { uri } },
          { caller: CALLER, signal: within },
        );
        // Without a server for the language there is nothing to report.
        if (!envelope.ok || !(Object(envelope.data).total > 0)) return reported.delete(uri) && undefined;
        const text = read ?? toText(envelope);
        if (reported.get(uri) === text) return undefined;
        reported.set(uri, text);
        return text;
      }),
    );
    signal.throwIfAborted();
    const reports = texts.filter((text) => typeof text === "string");
    return reports.length === 0
      ? undefined
      : `Diagnostics of the files that were just changed:\n${reports.join("\n")}`;
  };
}
