export { ANSWERS, type Answers } from "./answer.ts";
export type {
  Elicitation,
  ElicitationAnswer,
  ProgramDefinition,
  ServerDefinition,
} from "./client/connection.ts";
export type { ServerTool } from "./client/definitions.ts";
export { createStoredProvider, type OAuthData, type OAuthStorage } from "./client/oauth.ts";
export { loginTo } from "./client/oauth-login.ts";
export { loginAsMachine, MachineGrant } from "./client/oauth-machine.ts";
export type { PromptArgument, ServerPrompt, ServerResource } from "./client/offers.ts";
export type { ServerResult } from "./client/result.ts";
export type { ServerStatus, ToolConsent } from "./client/server.ts";
export type { CallToolOptions } from "./client/servers.ts";
export {
  createMcpServers,
  type McpServers,
  type McpServersOptions,
  type NamedTool,
} from "./client/servers.ts";
export type { StartedProgram } from "./client/stdio-transport.ts";
export { createToolNames } from "./client/tool-names.ts";
export { type Connection, createConnection, type Outlet } from "./connection.ts";
export { type AnsweredHandshake, answerHandshake, type HandshakeResults } from "./handshake.ts";
export { type HttpOptions, type HttpServer, type Limits, serveHttp } from "./http/index.ts";
export { createListing, type Listing, type ListingOptions } from "./listing.ts";
export { type Outgoing, parseJson } from "./messages.ts";
export { type ListedTool, PROFILES, type Profile } from "./profiles.ts";
export { createService, type ServiceOptions } from "./service.ts";
export type { CompletionSource, Icon, PromptSource, ResourceSource } from "./sources.ts";
export { type StdioOptions, type StdioServer, serveStdio } from "./stdio.ts";
export type { TaskJobs } from "./tasks/tasks.ts";
