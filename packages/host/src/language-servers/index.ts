export * from "./client.ts";
export * from "./language-server.ts";
export * from "./language-servers.ts";
export type { SourcePlace } from "./lsp-places.ts";
export type { ServerProcess } from "./server-process.ts";
export { readSourceText, type SourceText } from "./source-text.ts";
export { startServer } from "./start-server.ts";
export { ServerRefused, ServerUnavailable } from "./unavailable.ts";
export { type AppliedEdit, applyWorkspaceEdit, proposedEdits, textBetween } from "./workspace-edit.ts";
