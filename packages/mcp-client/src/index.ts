export type {
  Elicitation,
  ElicitationAnswer,
  ProgramDefinition,
  ServerDefinition,
} from "./connection.ts";
export type { ServerTool } from "./definitions.ts";
export type { OAuthData, OAuthStorage } from "./oauth.ts";
export { loginTo } from "./oauth-login.ts";
export { loginAsMachine, MachineGrant } from "./oauth-machine.ts";
export type { PromptArgument, ServerPrompt, ServerResource } from "./offers.ts";
export type { ServerResult } from "./result.ts";
export type { ServerStatus, ToolConsent } from "./server.ts";
export type { CallToolOptions } from "./servers.ts";
export {
  createMcpServers,
  type McpServers,
  type McpServersOptions,
  type NamedTool,
} from "./servers.ts";
export type { StartedProgram } from "./stdio-transport.ts";
export { createStoredProvider } from "./stored-provider.ts";
export { createToolNames } from "./tool-names.ts";
