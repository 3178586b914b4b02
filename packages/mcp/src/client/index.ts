export type {
  Elicitation,
  ElicitationAnswer,
  ProgramDefinition,
  ServerDefinition,
} from "./connection.ts";
export type { ServerTool } from "./definitions.ts";
export { createStoredProvider, type OAuthData, type OAuthStorage } from "./oauth.ts";
export { type LoginOptions, loginTo } from "./oauth-login.ts";
export { loginAsMachine, MachineGrant, type MachineLoginOptions } from "./oauth-machine.ts";
export type { PromptArgument, ServerPrompt, ServerResource } from "./offers.ts";
export type { ResultPart, ServerResult } from "./result.ts";
export type { ServerState, ServerStatus, ToolConsent } from "./server.ts";
export {
  type CallToolOptions,
  createMcpServers,
  type McpServers,
  type McpServersOptions,
  type NamedTool,
} from "./servers.ts";
export type { StartedProgram } from "./started-program.ts";
export { createToolNames, type ToolNames, type ToolPlace } from "./tool-names.ts";
