export { frameStream } from "./frame-stream.ts";
export type { AcpHost, FileDiff, ModelChoice, OpenedSession, WorkspaceFiles } from "./host.ts";
export { lineStream, serveAcp } from "./serve.ts";
