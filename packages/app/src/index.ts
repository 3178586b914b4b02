export { type AcpHostOptions, createAcpHost } from "./agent/acp-host.ts";
export type {
  AcpHost,
  ClientMcpServer,
  FileDiff,
  ModelChoice,
  OpenedSession,
  OpenRequest,
  SessionCommand,
  WorkspaceFiles,
} from "./agent/acp-host-api.ts";
export { chooseClient, openClient } from "./agent/choose-client.ts";
export { createCompleter } from "./agent/complete-input.ts";
export {
  type AgentHooks,
  type CreateAgentOptions,
  createAgent,
  type EmbeddedAgent,
  type HookCall,
  type RunEvent,
  type ToolUse,
  type ToolUseAnswer,
} from "./agent/create-agent.ts";
export { editExternally } from "./agent/external-editor.ts";
export { createPathList, findPaths } from "./agent/fuzzy-paths.ts";
export { openHostFolder } from "./agent/host-folder.ts";
export { followMembers, loadConversation } from "./agent/members.ts";
export { withMentions } from "./agent/mentions.ts";
export { createNotifier } from "./agent/notifier.ts";
export {
  type HostServer,
  type OpenAgentOptions,
  type OpenedAgent,
  openAgent,
  type SessionChoice,
} from "./agent/open-agent.ts";
export { createPictures } from "./agent/pictures.ts";
export { listCredentials, signInToProvider } from "./agent/provider-credentials.ts";
export { readRunInput } from "./agent/run-input.ts";
export { type PromptOptions, type PromptOutcome, RUN_EXIT, runPrompt } from "./agent/run-prompt.ts";
export {
  RUN_FORMAT,
  RunInput,
  RunRecord,
  RunResult,
  toBareResult,
  toRunSchema,
  waitForAnswers,
  watchUnapproved,
} from "./agent/run-records.ts";
export {
  EXPORT_FORMATS,
  exportSession,
  isOwnSession,
  openSessionStore,
  openSessions,
} from "./agent/sessions.ts";
export { runShellLine } from "./agent/shell-line.ts";
export { createTurns, describeUndo, planTurnById, planUndo, whyAsked } from "./agent/undo.ts";
export { declineTrust, findUntrusted, isDeclined, trustWaiting, type Waiting } from "./agent/untrusted.ts";
export { watchFacts } from "./agent/watch-facts.ts";
export { watchPrompts } from "./agent/watch-prompts.ts";
export { watchStatusLine } from "./agent/watch-status-line.ts";
export { auditPlaceOf } from "./audit-place.ts";
export { type CallTarget, toLocalTarget, toRemoteTarget } from "./call-target.ts";
export type { ConsoleTool } from "./console/console-tool.ts";
export type {
  AuditRow,
  CallDetail,
  ChainState,
  Checkpoint,
  DoctorCheck,
  EditRow,
  Explanation,
  FileChanges,
  HealthState,
  HookRow,
  LatencyRow,
  SandboxState,
  SessionEvent,
  SessionRow,
  SettingRow,
  ToolRow,
  UndoableTurn,
} from "./console/shapes.ts";
export { describeEvent } from "./control/describe-event.ts";
export { createEdgeControl } from "./control/edge-control.ts";
export {
  type ControlCall,
  type ControlClient,
  connectTo,
  findProcesses,
  listSockets,
} from "./control/find-processes.ts";
export {
  connectToMachine,
  findConsole,
  followProcesses,
  listQuestions,
  loadStatuses,
  type SilentProcess,
  type WaitingQuestion,
} from "./control/machine.ts";
export type {
  AttendedBatch,
  ControlAnswer,
  ControlCallAnswer,
  ControlEvent,
  ProcessStatus,
  SessionStatus,
} from "./control/protocol.ts";
export { openEdge } from "./edge/open-edge.ts";
export { askLate, followTools } from "./edge/remote-features.ts";
export { toWireService } from "./edge/wire-service.ts";
export { LOCAL_CALLER } from "./edges.ts";
export { explainCall, findCalled } from "./explain-call.ts";
export { checkEdges } from "./health/check-edges.ts";
export { checkHere } from "./health/check-here.ts";
export { type Check, checkTestRun } from "./health/check-workspace.ts";
export { describeSandbox } from "./health/describe-sandbox.ts";
export { connectToCommand, connectToStreams } from "./host/connect-to-command.ts";
export { serveOnSavedPort } from "./http/saved-port.ts";
export { createHandshakeCache } from "./mcp/handshake-cache.ts";
export { awaitServers } from "./mcp-servers/await-servers.ts";
export { findNewServers, listServers, serverNamed, targetOf } from "./mcp-servers/configured-servers.ts";
export { IMPORTED_FROM } from "./mcp-servers/import-servers.ts";
export { openServers } from "./mcp-servers/open-servers.ts";
export { signInToServer, signOutOfServer } from "./mcp-servers/sign-in.ts";
export { openMcpTarget } from "./mcp-target.ts";
export { createOctant, openOctant } from "./octant.ts";
export type { HttpServing, Octant, OctantOptions } from "./octant-api.ts";
export { describeRights } from "./packs/describe-rights.ts";
export { newPack } from "./packs/new-pack.ts";
export { addPack, listPacks, removePack } from "./packs/pack-list.ts";
export type { PackStatus } from "./packs/packs.ts";
export { servePack } from "./packs/serve-pack.ts";
export { testPack } from "./packs/test-pack.ts";
export { acpSettings } from "./setup/acp-settings.ts";
export { createTry } from "./setup/ask-server.ts";
export { carryOut, type Outcome } from "./setup/carry-out.ts";
export { checkClients } from "./setup/check-clients.ts";
export { CLIENTS, type Scope } from "./setup/clients.ts";
export { chooseLaunch, type Install, typedCommand } from "./setup/launch.ts";
export { pasteLines, type RunningServer } from "./setup/paste-lines.ts";
export { isInstalled, type Machine, thisMachine } from "./setup/places.ts";
export { type Plan, planChange, snippetOf, type Target, targetsOf, type Wish } from "./setup/plan.ts";
export { isSlashLine, listCommands, runSlashLine } from "./slash/index.ts";
export type { SlashOutcome } from "./slash/slash-command.ts";
export { toNetworkPolicy } from "./tools/machine-parts.ts";
export type { OwnTool } from "./tools/own-tools.ts";
export type { ToolChoice, ToolConfig } from "./tools/tool-choice.ts";
export { UnknownNameError } from "./tools/tool-choice.ts";
