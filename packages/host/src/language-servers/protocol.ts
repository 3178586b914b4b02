import type * as lsp from "vscode-languageserver-types";

/** The parts of the Language Server Protocol (3.17) that its library of types does not have. */

export type LspLocations = lsp.Location | readonly (lsp.Location | lsp.LocationLink)[] | null;

export interface LspPublishedDiagnostics {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: readonly lsp.Diagnostic[];
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
