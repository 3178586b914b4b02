export type {
  AcpHost,
  ClientMcpServer,
  FileDiff,
  ModelChoice,
  OpenedSession,
  OpenRequest,
  WorkspaceFiles,
} from "./host.ts";
export { type AcpOptions, type AcpServer, serveAcp } from "./serve.ts";
