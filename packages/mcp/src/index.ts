export { type Connection, createConnection, type Outlet } from "./connection.ts";
export { type AnsweredHandshake, answerHandshake, type HandshakeResults } from "./handshake.ts";
export { type HttpOptions, type HttpServer, type Limits, serveHttp } from "./http/index.ts";
export { type Outgoing, parseJson } from "./messages.ts";
export { createService, type ServiceOptions } from "./service.ts";
export type { CompletionSource, Icon, PromptSource, ResourceSource } from "./sources.ts";
export { type StdioOptions, type StdioServer, serveStdio } from "./stdio.ts";
export type { TaskJobs } from "./tasks/tasks.ts";
