/** The parts of the Language Server Protocol (3.17) that we speak. */

export interface LspPosition {
  readonly line: number;
  readonly character: number;
}

export interface LspRange {
  readonly start: LspPosition;
  readonly end: LspPosition;
}

export interface LspLocation {
  readonly uri: string;
  readonly range: LspRange;
}

export interface LspLocationLink {
  readonly targetUri: string;
  readonly targetSelectionRange: LspRange;
}

export type LspLocations = LspLocation | readonly (LspLocation | LspLocationLink)[] | null;

export interface LspTextEdit {
  readonly range: LspRange;
  readonly newText: string;
}

export interface LspTextDocumentEdit {
  readonly textDocument: { readonly uri: string };
  readonly edits: readonly LspTextEdit[];
}

/** Creates, moves or removes a file. */
export interface LspFileOperation {
  readonly kind: "create" | "rename" | "delete";
}

export interface LspWorkspaceEdit {
  readonly changes?: Readonly<Record<string, readonly LspTextEdit[]>>;
  readonly documentChanges?: readonly (LspTextDocumentEdit | LspFileOperation)[];
}

export interface LspDiagnostic {
  readonly range: LspRange;
  /** 1 error, 2 warning, 3 information, 4 hint. */
  readonly severity?: number;
  readonly code?: number | string;
  readonly source?: string;
  readonly message: string;
}

export interface LspPublishedDiagnostics {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly LspDiagnostic[];
}

export type LspMarkup =
  | string
  | { readonly value: string; readonly language?: string; readonly kind?: string };

export interface LspHover {
  readonly contents: LspMarkup | readonly LspMarkup[];
  readonly range?: LspRange;
}

export interface LspCompletionItem {
  readonly label: string;
  readonly kind?: number;
  readonly detail?: string;
  readonly sortText?: string;
  readonly insertText?: string;
  readonly textEdit?: { readonly newText: string };
}

export interface LspCallItem {
  readonly name: string;
  readonly kind: number;
  readonly uri: string;
  readonly range: LspRange;
  readonly selectionRange: LspRange;
}

export interface LspCall {
  readonly from?: LspCallItem;
  readonly to?: LspCallItem;
  readonly fromRanges: readonly LspRange[];
}

/** The server's capabilities; any value other than false or undefined means supported. */
export type LspCapabilities = Readonly<Record<string, unknown>> & {
  readonly executeCommandProvider?: { readonly commands?: readonly string[] };
};

/** Our capabilities. Documents are sent in full, positions count UTF-16 units. */
export const CLIENT_CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  workspace: {
    workspaceFolders: true,
    configuration: true,
    applyEdit: false,
    workspaceEdit: { documentChanges: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
    didChangeConfiguration: { dynamicRegistration: true },
    symbol: { dynamicRegistration: false },
  },
  window: { workDoneProgress: true },
  textDocument: {
    synchronization: { didSave: true },
    definition: {},
    references: {},
    hover: { contentFormat: ["markdown", "plaintext"] },
    completion: { completionItem: { snippetSupport: false, documentationFormat: ["plaintext"] } },
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: { prepareSupport: false },
    formatting: {},
    rangeFormatting: {},
    publishDiagnostics: { versionSupport: true },
    diagnostic: { dynamicRegistration: true },
    callHierarchy: {},
  },
} as const;
