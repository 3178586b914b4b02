export { type FrameSink, frameStream } from "./frame-stream.ts";
export type {
  AcpHost,
  ClientMcpServer,
  FileDiff,
  ModelChoice,
  OpenedSession,
  OpenRequest,
  WorkspaceFiles,
} from "./host.ts";
export { type AcpOptions, type AcpServer, lineStream, serveAcp } from "./serve.ts";
