import type * as lsp from "vscode-languageserver-types";
import type { OpenDocument } from "./documents.ts";
import type { Session } from "./session.ts";

/** The command by which typescript-language-server passes a question on to tsserver. */
export const TSSERVER_REQUEST = "typescript.tsserverRequest";

interface TsPosition {
  readonly line: number;
  readonly offset: number;
}
interface TsDiagnostic {
  readonly start: TsPosition;
  readonly end: TsPosition;
  readonly text: string;
  readonly code?: number;
  readonly category: string;
}

const SEVERITY: Readonly<Record<string, lsp.DiagnosticSeverity>> = {
  error: 1,
  warning: 2,
  message: 3,
  suggestion: 4,
};

/**
 * From tsserver itself. typescript-language-server publishes in parts without a last one, and publishes nothing about
 * a file that was and is correct.
 */
export async function askTsserver(
  { request }: Pick<Session, "request">,
  { uri }: OpenDocument,
  patienceMs: number,
  signal: AbortSignal,
): Promise<readonly lsp.Diagnostic[]> {
  const ask = async (question: string) => {
    const params = { command: TSSERVER_REQUEST, arguments: [question, { file: uri }] };
    const answer = await request<{ readonly body?: readonly TsDiagnostic[] } | null>(
      "workspace/executeCommand",
      params,
      signal,
      patienceMs,
    );
    return answer?.body ?? [];
  };
  return [...(await ask("syntacticDiagnosticsSync")), ...(await ask("semanticDiagnosticsSync"))].map(
    ({ start, end, text, code, category }) => ({
      range: { start: toLsp(start), end: toLsp(end) },
      severity: SEVERITY[category] ?? 1,
      message: text,
      source: "typescript",
      ...(code !== undefined && { code }),
    }),
  );
}

/** tsserver counts from one. */
const toLsp = ({ line, offset }: TsPosition): lsp.Position => ({ line: line - 1, character: offset - 1 });
