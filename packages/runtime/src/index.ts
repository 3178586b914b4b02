export { showValue } from "./audit/arguments.ts";
export { type AuditLog, createAuditLog } from "./audit/audit-log.ts";
export { describeRecord } from "./audit/describe-record.ts";
export { type ChainRecord, followAudit, readAudit } from "./audit/read.ts";
export { recordCall } from "./audit/record-call.ts";
export { recordRejected } from "./audit/record-rejected.ts";
export { toAuditKey } from "./audit/seal.ts";
export { listOlderFiles } from "./audit/tables.ts";
export { type AuditVerdict, verifyAudit } from "./audit/verify.ts";
export {
  type Config,
  type EffectiveSettings,
  type Origin,
  TIERS,
  type TierName,
  type WaitingForTrust,
} from "./config/config.ts";
export { DEFAULT_TOOLS } from "./config/defaults.ts";
export { explainConfig } from "./config/explain.ts";
export { parseJsonc } from "./config/jsonc.ts";
export { type LoadOptions, loadConfig } from "./config/load.ts";
export { type AddedRule, addLocalRule, localFolder } from "./config/local-rule.ts";
export { loadModels } from "./config/models-file.ts";
export { narrowNetwork } from "./config/narrow-sandbox.ts";
export { settingsPlaces } from "./config/places.ts";
export { type PackSettings, type ServerSettings, THINKING, type Thinking } from "./config/schema.ts";
export { SettingsError } from "./config/settings-error.ts";
export { renderSettings, toSettingsSchema } from "./config/settings-schema.ts";
export {
  acceptPack,
  createInstructionTrust,
  type InstructionContent,
  isAcceptedPack,
  listTrust,
  revokeTrust,
  trustFolder,
  trustInstructions,
  untrustedError,
} from "./config/trust.ts";
export {
  addUserPack,
  addUserServers,
  removeUserPack,
  removeUserServer,
  setUserSettings,
} from "./config/user-settings.ts";
export { accessToken, signInWithBrowser, signInWithDevice } from "./credentials/access-token.ts";
export { isVerifier, openRedirect, toChallenge } from "./credentials/loopback.ts";
export {
  type Credential,
  type CredentialStore,
  createCredentialStore,
  type OAuthCredential,
} from "./credentials/store.ts";
export { createEventHooks, type EventFacts, type EventHooks } from "./hooks/event-hooks.ts";
export type { EventOutcome } from "./hooks/hook-answer.ts";
export type { HookPlace } from "./hooks/run-command.ts";
export { runHooks } from "./hooks/run-hooks.ts";
export { createHookRunner } from "./hooks/runner.ts";
export { ownRefs } from "./owned-refs.ts";
export { checkCommands } from "./permissions/check-commands.ts";
export {
  ALWAYS_DAYS,
  checkPermission,
  inDays,
  type PermissionSetting,
} from "./permissions/check-permission.ts";
export { explainPolicy, type PolicyExplanation } from "./permissions/explain.ts";
export type { PolicyCall } from "./permissions/facts.ts";
export { findIdleRules } from "./permissions/idle-rules.ts";
export { type LineReader, openLineReader, QUIET_MS } from "./permissions/line-reader.ts";
export type { WorkingTree } from "./permissions/path-glob.ts";
export type { Decision } from "./permissions/policy.ts";
export { createPolicy, type Policy } from "./permissions/policy.ts";
export {
  alwaysInWords,
  describeRule,
  isExpired,
  PermissionRule,
  ruleInWords,
  ToolPattern,
} from "./permissions/rule.ts";
export { SessionAnswers } from "./permissions/session-answers.ts";
export { createTerminalAsk, openTerminal } from "./permissions/terminal-ask.ts";
export { isUnrestricted } from "./permissions/unrestricted.ts";
export { collectSecrets } from "./redact/collect-secrets.ts";
export { createRedactor, type Redact, redactErrors } from "./redact/redactor.ts";
