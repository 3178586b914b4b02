import type { Range } from "@octant/core";
import type * as lsp from "vscode-languageserver-types";
import type { Path } from "../path.ts";
import type { OpenDocument } from "./documents.ts";
import type { Running } from "./language-server.ts";
import { fromLspRange } from "./lsp-places.ts";
import { askTsserver, TSSERVER_REQUEST } from "./tsserver-diagnostics.ts";

export const SEVERITIES = ["error", "warning", "information", "hint"] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface SourceDiagnostic {
  readonly path: Path;
  readonly range: Range;
  readonly severity: Severity;
  readonly message: string;
  readonly source?: string;
  readonly code?: string;
}

/** The diagnostics of one file; undefined where nothing came in time. */
export async function askDiagnostics(
  running: Running,
  path: Path,
  patienceMs: number,
  signal: AbortSignal,
): Promise<readonly SourceDiagnostic[] | undefined> {
  const document = running.documents.sync(path);
  const found = await wayToAsk(running)(running, document, patienceMs, signal);
  return found?.map((one) => toDiagnostic(path, one));
}

function wayToAsk(running: Running): typeof published {
  if (running.can("diagnosticProvider")) return pull;
  return running.knows(TSSERVER_REQUEST) ? askTsserver : published;
}

async function pull(
  running: Running,
  { uri }: OpenDocument,
  patienceMs: number,
  signal: AbortSignal,
): Promise<readonly lsp.Diagnostic[] | undefined> {
  const params = { textDocument: { uri } };
  const report = await running.request<{ items?: readonly lsp.Diagnostic[] } | null>(
    "textDocument/diagnostic",
    params,
    signal,
    patienceMs,
  );
  return report?.items;
}

/** A server need not publish unchanged diagnostics again, so the wait for newer ones is short. */
const SECOND_LOOK_MS = 700;

/**
 * Waits for the server's published diagnostics; one that turns out to support pull requests, like pyright, is asked.
 */
async function published(
  running: Running,
  document: OpenDocument,
  patienceMs: number,
  signal: AbortSignal,
): Promise<readonly lsp.Diagnostic[] | undefined> {
  const asked = Promise.withResolvers<readonly lsp.Diagnostic[] | undefined>();
  let isAsked = false;
  // Servers register several times; the failure of a second request would go unnoticed.
  const stop = running.onRegistered(() => {
    if (isAsked || !running.can("diagnosticProvider")) return;
    isAsked = true;
    asked.resolve(pull(running, document, patienceMs, signal));
  });
  try {
    return await Promise.race([said(running, document, patienceMs, signal), asked.promise]);
  } finally {
    stop();
  }
}

async function said(
  { diagnostics, documents }: Running,
  { uri, path, mark, version }: OpenDocument,
  patienceMs: number,
  signal: AbortSignal,
): Promise<readonly lsp.Diagnostic[] | undefined> {
  const doubt = documents.takeDoubt(path);
  if (doubt !== undefined && doubt > mark) {
    const newer = await diagnostics.since(uri, doubt, version, Math.min(SECOND_LOOK_MS, patienceMs), signal);
    if (newer) return newer;
  }
  return diagnostics.since(uri, mark, version, patienceMs, signal);
}

const toDiagnostic = (path: Path, found: lsp.Diagnostic): SourceDiagnostic => ({
  path,
  range: fromLspRange(found.range),
  severity: SEVERITIES[(found.severity ?? 1) - 1] ?? "error",
  message: found.message,
  ...(found.source !== undefined && { source: found.source }),
  ...(found.code !== undefined && { code: String(found.code) }),
});
