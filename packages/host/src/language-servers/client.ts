import { type Position, type Range, ToolError } from "@octant/core";
import type * as lsp from "vscode-languageserver-types";
import { isWithin, type Path, pathToUri } from "../path.ts";
import { type Completion, type LspCompletions, toCompletions } from "./completions.ts";
import { askDiagnostics, type SourceDiagnostic } from "./diagnostics-of-file.ts";
import type { LanguageServer, Running } from "./language-server.ts";
import { fromLspRange, pathOf, type SourcePlace, toLspPosition, toLspRange, toPlaces } from "./lsp-places.ts";
import type { LspLocations } from "./protocol.ts";
import type { SourceText } from "./source-text.ts";

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

export interface FormatOptions {
  readonly tabSize: number;
  readonly insertSpaces: boolean;
}

/** How long a server may load the project before it is asked about all of it. */
const LOADING_MS = 15_000;
/** Longer than for a query: no other backend can make these edits, and the call continues as a job. */
export const EDIT_MS = 120_000;

export type LanguageClient = ReturnType<typeof createLanguageClient>;

/** The questions that a language server can answer; undefined where this one says that it cannot. */
export function createLanguageClient(server: LanguageServer) {
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
  const WHOLE = { whole: true };

  const isPyright = server.name.endsWith("pyright");
  // Pyright would resolve the imports of a file from elsewhere to modules of this root that have the same name.
  const mayOpen = (path: Path) => !isPyright || isWithin(server.root, path);

  return {
    name: server.name,
    /**
     * The server knows only the projects of open files, or the folders that its settings name, so files that may use a
     * symbol have to be opened before it is asked about all uses.
     */
    knowsOnlyOpen: server.name.startsWith("typescript") || isPyright,
    /** Files elsewhere belong to another server. */
    covers: (path: Path): boolean => isWithin(server.root, path),
    /** The project's missing part without which it cannot understand a file, and how to get it. */
    lacks: (path: Path): string | undefined => server.lacks(path),
    /** Why it cannot load the project. */
    trouble: (): string | undefined => server.running?.trouble(),
    onWork: (listener: (message: string) => void) => server.onWork(listener),
    /** Whether it is still loading the project, so that its answers may be incomplete. */
    isLoading: (): boolean => server.running?.isLoading() ?? false,
    /** Opens files without a question about them. Those that cannot be read are left out. */
    open: (paths: readonly Path[], signal: AbortSignal): Promise<void> =>
      server.use(async (running) => {
        for (const path of paths.filter(mayOpen)) openIfReadable(running, path);
        await running.settled(LOADING_MS, signal);
      }, signal),
    definition: (spot: Spot, signal: AbortSignal, patienceMs?: number): Places =>
      ask(spot, "definitionProvider", signal, async ({ request }, at) =>
        toPlaces(await request<LspLocations>("textDocument/definition", at, signal, patienceMs)),
      ),
    references: (spot: Spot, signal: AbortSignal, patienceMs?: number): Places => {
      const work = async ({ request }: Running, at: object) => {
        const params = { ...at, context: { includeDeclaration: true } };
        return toPlaces(await request<LspLocations>("textDocument/references", params, signal, patienceMs));
      };
      return ask(spot, "referencesProvider", signal, work, WHOLE);
    },
    /** Markdown. */
    hover: (spot: Spot, signal: AbortSignal): Promise<{ text: string; range?: Range } | null | undefined> =>
      ask(spot, "hoverProvider", signal, async ({ request }, at) => {
        const found = await request<lsp.Hover | null>("textDocument/hover", at, signal);
        if (!found) return null;
        return { text: toMarkdown(found.contents), ...(found.range && { range: fromLspRange(found.range) }) };
      }),
    completion: (spot: Spot, signal: AbortSignal): Promise<readonly Completion[] | undefined> =>
      ask(spot, "completionProvider", signal, async ({ request }, at) =>
        toCompletions(await request<LspCompletions | null>("textDocument/completion", at, signal)),
      ),
    /** undefined also where nothing came in time. */
    diagnostics: (
      path: Path,
      patienceMs: number,
      signal: AbortSignal,
    ): Promise<readonly SourceDiagnostic[] | undefined> =>
      server.use(async (running) => {
        const found = await askDiagnostics(running, path, patienceMs, signal);
        // It finds nothing wrong with a file of a project that it could not load.
        return found?.length === 0 && running.trouble() !== undefined ? undefined : found;
      }, signal),
    calls: (
      spot: Spot,
      direction: "incoming" | "outgoing",
      signal: AbortSignal,
    ): Promise<readonly SourceCall[] | undefined> => {
      const work = async ({ request }: Running, at: object) => {
        const prepare = "textDocument/prepareCallHierarchy";
        const found: SourceCall[] = [];
        for (const item of (await request<readonly lsp.CallHierarchyItem[] | null>(prepare, at, signal)) ??
          []) {
          const method = `callHierarchy/${direction}Calls`;
          const calls = await request<readonly Call[] | null>(method, { item }, signal);
          found.push(...(calls ?? []).flatMap((call) => toCall(call, item)));
        }
        return found;
      };
      return ask(spot, "callHierarchyProvider", signal, work, WHOLE);
    },
    rename: (
      spot: Spot,
      newName: string,
      signal: AbortSignal,
    ): Promise<lsp.WorkspaceEdit | null | undefined> => {
      const work = ({ request }: Running, at: object) =>
        request<lsp.WorkspaceEdit | null>("textDocument/rename", { ...at, newName }, signal, EDIT_MS);
      return ask(spot, "renameProvider", signal, work, WHOLE);
    },
    format: (
      path: Path,
      range: Range | undefined,
      options: FormatOptions,
      signal: AbortSignal,
    ): Promise<lsp.WorkspaceEdit | undefined> =>
      server.use(async (running) => {
        const capability = range ? "documentRangeFormattingProvider" : "documentFormattingProvider";
        if (!running.can(capability)) return undefined;
        const { uri } = running.documents.sync(path);
        const edits = await running.request<lsp.TextEdit[] | null>(
          range ? "textDocument/rangeFormatting" : "textDocument/formatting",
          { textDocument: { uri }, options, ...(range && { range: toLspRange(range) }) },
          signal,
          EDIT_MS,
        );
        return { changes: { [pathToUri(path)]: edits ?? [] } };
      }, signal),
  };
}

type Places = Promise<readonly SourcePlace[] | undefined>;

function openIfReadable({ documents }: Running, path: Path): void {
  try {
    documents.sync(path);
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
  }
}

type Call = Partial<lsp.CallHierarchyIncomingCall & lsp.CallHierarchyOutgoingCall>;

function toCall({ from, to, fromRanges = [] }: Call, asked: lsp.CallHierarchyItem): SourceCall[] {
  const other = from ?? to;
  const path = other && pathOf(other.uri);
  const caller = pathOf((from ?? asked).uri);
  if (!other || path === undefined || caller === undefined) return [];
  const at = fromRanges.map((range) => ({ path: caller, range: fromLspRange(range) }));
  return [{ name: other.name, path, range: fromLspRange(other.selectionRange), at }];
}

/** The older ways of the protocol have the text alone, or code with its language. */
function toMarkdown(contents: lsp.Hover["contents"]): string {
  const parts = Array.isArray(contents) ? contents : [contents];
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      return "language" in part ? `\`\`\`${part.language}\n${part.value}\n\`\`\`` : part.value;
    })
    .filter((text) => text.trim() !== "")
    .join("\n\n")
    .trim();
}
