export { ANSWERS, type Answers } from "./answer.ts";
export {
  createMcpServers,
  createStoredProvider,
  createToolNames,
  type Elicitation,
  type ElicitationAnswer,
  loginAsMachine,
  loginTo,
  MachineGrant,
  type McpServers,
  type McpServersOptions,
  type NamedTool,
  type OAuthData,
  type OAuthStorage,
  type ProgramDefinition,
  type PromptArgument,
  type ServerDefinition,
  type ServerPrompt,
  type ServerResource,
  type ServerResult,
  type ServerStatus,
  type ServerTool,
  type StartedProgram,
  type ToolConsent,
} from "./client/index.ts";
export { type Connection, createConnection, type Outlet } from "./connection.ts";
export { type AnsweredHandshake, answerHandshake, type HandshakeResults } from "./handshake.ts";
export { type HttpOptions, type HttpServer, type Limits, serveHttp } from "./http/index.ts";
export { createListing, type Listing, type ListingOptions } from "./listing.ts";
export { type Outgoing, parseJson } from "./messages.ts";
export { type ListedTool, PROFILES, type Profile } from "./profiles.ts";
export { createService, type ServiceOptions } from "./service.ts";
export { type StdioOptions, type StdioServer, serveStdio } from "./stdio.ts";
