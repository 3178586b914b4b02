export {
  createLanguageClient,
  EDIT_MS,
  type FormatOptions,
  type LanguageClient,
  type SourceCall,
  type Spot,
} from "./client.ts";
export { SEVERITIES, type SourceDiagnostic } from "./diagnostics-of-file.ts";
export {
  createLanguageServers,
  type LanguageServers,
  type LanguageServersOptions,
} from "./language-servers.ts";
export type { SourcePlace } from "./lsp-places.ts";
export { startServer } from "./server-process.ts";
export { readSourceText, type SourceText } from "./source-text.ts";
export { ServerRefused, ServerUnavailable } from "./unavailable.ts";
export { type AppliedEdit, applyWorkspaceEdit, proposedEdits } from "./workspace-edit.ts";
