export * from "./client.ts";
export * from "./language-server.ts";
export * from "./language-servers.ts";
export type { SourcePlace } from "./lsp-places.ts";
export { readSourceText, type SourceText } from "./source-text.ts";
export { ServerRefused, ServerUnavailable } from "./unavailable.ts";
export { type AppliedEdit, applyWorkspaceEdit, editedPlaces, textBetween } from "./workspace-edit.ts";
