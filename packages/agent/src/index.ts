export { Agent, type AgentOptions, type Content } from "./agent.ts";
export type {
  Answer,
  ApiClient,
  Delta,
  Model,
  ModelRequest,
  StopReason,
  StreamEvent,
  ToolDefinition,
} from "./api-client.ts";
export { ApiError } from "./api-error.ts";
export { compactMessages } from "./compaction/compact.ts";
export { withArguments } from "./context/arguments.ts";
export {
  type FrontMatter,
  isOn,
  listField,
  parseFrontMatter,
  textField,
} from "./context/front-matter.ts";
export { findInstructions, type InstructionFile } from "./context/instructions.ts";
export { expandMentions, withoutMentioned } from "./context/mentions.ts";
export { createOutputSchema, type OutputSchema } from "./context/output-schema.ts";
export { toProjectFacts } from "./context/project-facts.ts";
export { toSystemPrompt } from "./context/system-prompt.ts";
export { Conversation } from "./conversation.ts";
export { agentTool } from "./crew/agent-tool.ts";
export { Crew, type MemberListener } from "./crew/crew.ts";
export { CREW_LIMITS } from "./crew/crew-limits.ts";
export type { Member, MemberInfo, MemberPlan, WorktreeOutcome } from "./crew/member.ts";
export { parseRole, ROLES, type Role } from "./crew/roles.ts";
export type {
  AgentEvent,
  EndReason,
  Marked,
  RunEnded,
  StampedEvent,
  ToolBegan,
  ToolEnded,
} from "./events.ts";
export type { LimitReached, Limits } from "./limits.ts";
export { embedTexts } from "./llm/embeddings.ts";
export { llmTool } from "./llm/llm-tool.ts";
export type { Models } from "./llm/models.ts";
export {
  type AssistantMessage,
  type AssistantPart,
  type ImagePart,
  type Message,
  type TextPart,
  type ToolMessage,
  textOf,
  textParts,
  type UserMessage,
  type UserPart,
  type WebSearchPart,
} from "./messages.ts";
export { backoffCap, createBackoff, retryAfterMs } from "./providers/backoff.ts";
export { findModel } from "./providers/catalog.ts";
export { chooseProvider, createCredentialSource, findCredentials } from "./providers/choose-provider.ts";
export { checkKey, listProviderModels, SeveralModels } from "./providers/list-models.ts";
export { findLocalServers, type LocalServer } from "./providers/local-servers.ts";
export {
  type ClientOptions,
  type Credentials,
  createApiClient,
  keyCredentials,
  PROVIDER_NAMES,
  PROVIDERS,
  type ProviderName,
} from "./providers/providers.ts";
export { describeRetry, type RetryOptions } from "./providers/retry.ts";
export { createSseFrameBuffer } from "./providers/sse.ts";
export { toFailure } from "./run-calls.ts";
export { type EventStore, Session } from "./session.ts";
export type {
  MemberFields,
  MomentArguments,
  MomentFields,
  MomentOutcome,
  SessionHooks,
  SessionMoment,
} from "./session-hooks.ts";
export { toClaudeTranscript } from "./sessions/claude-transcript.ts";
export { escapeHtml, exportHtml, exportJson, exportMarkdown } from "./sessions/export.ts";
export { FileSessionStore } from "./sessions/file-session-store.ts";
export { readLogFile } from "./sessions/log-file.ts";
export { LogSessionStore, type SessionLogs } from "./sessions/log-session-store.ts";
export type { SearchSessionsOptions, SessionMatch } from "./sessions/search-sessions.ts";
export type { SessionInfo, SessionStore } from "./sessions/session-store.ts";
export { afterBeginning, createSpending, type Spending } from "./spending.ts";
export { contextTokens, estimateTokens, messageTokens } from "./tokens.ts";
export type { CallStep, ToolCall, ToolExecutor, ToolResult } from "./tool-executor.ts";
export type {
  Direction,
  HostContext,
  HostJobs,
  HostTurns,
  JobResult,
  MarkdownKind,
  MemberHost,
  MemberHosts,
  NamedMarkdown,
  NewTurn,
  OpenTurn,
  PlannedUndo,
  ToolHost,
  Turn,
  UncoveredEntry,
  UndoPlan,
} from "./tool-host.ts";
export { createToolExecutor } from "./tools/create-executor.ts";
export { createDispatchExecutor } from "./tools/dispatch-executor.ts";
export { elicitFrom } from "./tools/elicit.ts";
export { createMcpExecutor } from "./tools/mcp-executor.ts";
export { createResourceExecutor } from "./tools/mcp-resources.ts";
export { createPersonTools } from "./tools/person-tools.ts";
export { markPlans, PlanMark } from "./tools/plan-marks.ts";
export { cacheHitRate, costOf, NO_USAGE, subtractUsage, tokensOf, Usage } from "./usage.ts";
export { searchLines } from "./web-search.ts";
