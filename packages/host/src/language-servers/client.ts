import { type Position, type Range, ToolError } from "@octant/core";
import { isWithin, type Path, pathToUri } from "../path.ts";
import type { OpenDocument } from "./documents.ts";
import type { LanguageServer, Running } from "./language-server.ts";
import { fromLspRange, pathOf, type SourcePlace, toLspPosition, toLspRange, toPlaces } from "./lsp-places.ts";
import type {
  LspCall,
  LspCallItem,
  LspCompletionItem,
  LspDiagnostic,
  LspHover,
  LspLocations,
  LspMarkup,
  LspTextEdit,
  LspWorkspaceEdit,
} from "./protocol.ts";
import type { SourceText } from "./source-text.ts";
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

export interface Completion {
  readonly label: string;
  readonly kind?: string;
  readonly detail?: string;
  readonly insert?: string;
}

/** A function, and where it calls or is called. */
export interface SourceCall extends SourcePlace {
  readonly name: string;
  /** The calls themselves: in the caller's file. */
  readonly at: readonly SourcePlace[];
}

export interface Spot {
  readonly path: Path;
  readonly position: Position;
  /** The file, when it was read just now. */
  readonly source?: SourceText;
}

/** The questions that a language server can answer; undefined where this one says that it cannot. */
export interface LanguageClient extends Pick<LanguageServer, "name" | "onWork"> {
  /**
   * The server knows only the projects of open files, or the folders that its settings name, so files that may use a
   * symbol have to be opened before it is asked about all uses.
   */
  readonly knowsOnlyOpen: boolean;
  /** Opens files without a question about them. Those that cannot be read are left out. */
  open(paths: readonly Path[], signal: AbortSignal): Promise<void>;
  /** Whether it is still loading the project, so that its answers may be incomplete. */
  isLoading(): boolean;
  definition(
    spot: Spot,
    signal: AbortSignal,
    patienceMs?: number,
  ): Promise<readonly SourcePlace[] | undefined>;
  references(
    spot: Spot,
    signal: AbortSignal,
    patienceMs?: number,
  ): Promise<readonly SourcePlace[] | undefined>;
  /** Markdown. */
  hover(spot: Spot, signal: AbortSignal): Promise<{ text: string; range?: Range } | null | undefined>;
  completion(spot: Spot, signal: AbortSignal): Promise<readonly Completion[] | undefined>;
  /** undefined also where nothing came in time. */
  diagnostics(
    path: Path,
    patienceMs: number,
    signal: AbortSignal,
  ): Promise<readonly SourceDiagnostic[] | undefined>;
  calls(
    spot: Spot,
    direction: "incoming" | "outgoing",
    signal: AbortSignal,
  ): Promise<readonly SourceCall[] | undefined>;
  rename(spot: Spot, newName: string, signal: AbortSignal): Promise<LspWorkspaceEdit | null | undefined>;
  format(
    path: Path,
    range: Range | undefined,
    options: FormatOptions,
    signal: AbortSignal,
  ): Promise<LspWorkspaceEdit | undefined>;
}

export interface FormatOptions {
  readonly tabSize: number;
  readonly insertSpaces: boolean;
}

/** How long a server may load the project before it is asked about all of it. */
const LOADING_MS = 15_000;
/** Longer than for a query: no other backend can make these edits, and the call continues as a job. */
export const EDIT_MS = 120_000;

export function createLanguageClient(server: LanguageServer): LanguageClient {
  /** Asks about a position in a file, after syncing the server with the disk. */
  const ask = <T>(
    spot: Spot,
    capability: string,
    signal: AbortSignal,
    work: (running: Running, at: { textDocument: { uri: string }; position: object }) => Promise<T>,
    { whole = false } = {},
  ): Promise<T | undefined> =>
    server.use(async (running) => {
      if (!running.can(capability)) return undefined;
      const { uri } = running.documents.sync(spot.path, spot.source);
      if (whole) await running.settled(LOADING_MS, signal);
      return work(running, { textDocument: { uri }, position: toLspPosition(spot.position) });
    }, signal);

  const isPyright = server.name.endsWith("pyright");
  // Pyright would resolve the imports of a file from elsewhere to modules of this root that have the same name.
  const mayOpen = (path: Path) => !isPyright || isWithin(server.root, path);

  return {
    name: server.name,
    knowsOnlyOpen: server.name.startsWith("typescript") || isPyright,
    onWork: server.onWork,
    isLoading: () => server.running()?.isLoading() ?? false,
    open: (paths, signal) =>
      server.use(async (running) => {
        for (const path of paths.filter(mayOpen)) openIfReadable(running, path);
        await running.settled(LOADING_MS, signal);
      }, signal),
    definition: (spot, signal, patienceMs) =>
      ask(spot, "definitionProvider", signal, async (running, at) =>
        toPlaces(await running.request<LspLocations>("textDocument/definition", at, signal, patienceMs)),
      ),
    references: (spot, signal, patienceMs) =>
      ask(
        spot,
        "referencesProvider",
        signal,
        async (running, at) => {
          const params = { ...at, context: { includeDeclaration: true } };
          return toPlaces(
            await running.request<LspLocations>("textDocument/references", params, signal, patienceMs),
          );
        },
        { whole: true },
      ),
    hover: (spot, signal) =>
      ask(spot, "hoverProvider", signal, async (running, at) => {
        const found = await running.request<LspHover | null>("textDocument/hover", at, signal);
        if (!found) return null;
        return { text: toMarkdown(found.contents), ...(found.range && { range: fromLspRange(found.range) }) };
      }),
    completion: (spot, signal) =>
      ask(spot, "completionProvider", signal, async (running, at) => {
        const answer = await running.request<
          readonly LspCompletionItem[] | { items: readonly LspCompletionItem[] } | null
        >("textDocument/completion", at, signal);
        const items = answer && "items" in answer ? answer.items : (answer ?? []);
        return items.toSorted(bySortText).map(toCompletion);
      }),
    diagnostics: (path, patienceMs, signal) =>
      server.use(async (running) => {
        const document = running.documents.sync(path);
        const found = await wayToAsk(running)(running, document, patienceMs, signal);
        // It finds nothing wrong with a file of a project that it could not load.
        if (found?.length === 0 && running.trouble() !== undefined) return undefined;
        return found?.map((one) => toDiagnostic(path, one));
      }, signal),
    calls: (spot, direction, signal) =>
      ask(
        spot,
        "callHierarchyProvider",
        signal,
        async (running, at) => {
          const items = await running.request<readonly LspCallItem[] | null>(
            "textDocument/prepareCallHierarchy",
            at,
            signal,
          );
          const found: SourceCall[] = [];
          for (const item of items ?? []) {
            const method = `callHierarchy/${direction}Calls`;
            const calls = await running.request<readonly LspCall[] | null>(method, { item }, signal);
            found.push(...(calls ?? []).flatMap((call) => toCall(call, item)));
          }
          return found;
        },
        { whole: true },
      ),
    rename: (spot, newName, signal) =>
      ask(
        spot,
        "renameProvider",
        signal,
        (running, at) =>
          running.request<LspWorkspaceEdit | null>(
            "textDocument/rename",
            { ...at, newName },
            signal,
            EDIT_MS,
          ),
        { whole: true },
      ),
    format: (path, range, options, signal) =>
      server.use(async (running) => {
        const capability = range ? "documentRangeFormattingProvider" : "documentFormattingProvider";
        if (!running.can(capability)) return undefined;
        const { uri } = running.documents.sync(path);
        const edits = await running.request<readonly LspTextEdit[] | null>(
          range ? "textDocument/rangeFormatting" : "textDocument/formatting",
          { textDocument: { uri }, options, ...(range && { range: toLspRange(range) }) },
          signal,
          EDIT_MS,
        );
        return { changes: { [pathToUri(path)]: edits ?? [] } };
      }, signal),
  };
}

function openIfReadable({ documents }: Running, path: Path): void {
  try {
    documents.sync(path);
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
  }
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
): Promise<readonly LspDiagnostic[] | undefined> {
  const params = { textDocument: { uri } };
  const report = await running.request<{ items?: readonly LspDiagnostic[] } | null>(
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
): Promise<readonly LspDiagnostic[] | undefined> {
  const asked = Promise.withResolvers<readonly LspDiagnostic[] | undefined>();
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
): Promise<readonly LspDiagnostic[] | undefined> {
  const doubt = documents.takeDoubt(path);
  if (doubt !== undefined && doubt > mark) {
    const newer = await diagnostics.since(uri, doubt, version, Math.min(SECOND_LOOK_MS, patienceMs), signal);
    if (newer) return newer;
  }
  return diagnostics.since(uri, mark, version, patienceMs, signal);
}

const toDiagnostic = (path: Path, found: LspDiagnostic): SourceDiagnostic => ({
  path,
  range: fromLspRange(found.range),
  severity: SEVERITIES[(found.severity ?? 1) - 1] ?? "error",
  message: found.message,
  ...(found.source !== undefined && { source: found.source }),
  ...(found.code !== undefined && { code: String(found.code) }),
});

function toCall({ from, to, fromRanges }: LspCall, asked: LspCallItem): SourceCall[] {
  const other = from ?? to;
  const path = other && pathOf(other.uri);
  const caller = pathOf((from ?? asked).uri);
  if (!other || path === undefined || caller === undefined) return [];
  const at = fromRanges.map((range) => ({ path: caller, range: fromLspRange(range) }));
  return [{ name: other.name, path, range: fromLspRange(other.selectionRange), at }];
}

const bySortText = (a: LspCompletionItem, b: LspCompletionItem): number => {
  const [left, right] = [a.sortText ?? a.label, b.sortText ?? b.label];
  return left < right ? -1 : left > right ? 1 : 0;
};

/** The protocol's completion kinds, from 1. */
const COMPLETION_KINDS = [
  ...["text", "method", "function", "constructor", "field", "variable", "class", "interface", "module"],
  ...["property", "unit", "value", "enum", "keyword", "snippet", "color", "file", "reference", "folder"],
  ...["constant", "constant", "struct", "event", "operator", "type"],
] as const;

function toCompletion({ label, kind, detail, insertText, textEdit }: LspCompletionItem): Completion {
  const insert = textEdit?.newText ?? insertText;
  const word = kind === undefined ? undefined : COMPLETION_KINDS[kind - 1];
  return {
    label,
    ...(word && { kind: word }),
    ...(detail && { detail }),
    ...(insert !== undefined && insert !== label && { insert }),
  };
}

/** The older ways of the protocol have the text alone, or code with its language. */
function toMarkdown(contents: LspHover["contents"]): string {
  const parts: readonly LspMarkup[] = Array.isArray(contents) ? contents : [contents as LspMarkup];
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      return part.language === undefined ? part.value : `\`\`\`${part.language}\n${part.value}\n\`\`\``;
    })
    .filter((text) => text.trim() !== "")
    .join("\n\n")
    .trim();
}
