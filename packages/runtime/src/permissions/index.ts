export {
  APPROVAL_CHOICES,
  type ApprovalAnswer,
  type ApprovalEvent,
  type ApprovalQueue,
  createApprovalQueue,
} from "./approval-queue.ts";
export { askThroughClient } from "./ask-through-client.ts";
export { ALWAYS_DAYS, checkPermission, inDays, type PermissionSetting } from "./check-permission.ts";
export { describeRequest } from "./describe-request.ts";
export { explainPolicy, type PolicyExplanation } from "./explain.ts";
export type { PolicyCall } from "./facts.ts";
export { findIdleRules } from "./idle-rules.ts";

export { createPolicy, type Policy } from "./policy.ts";
export {
  askInOrder,
  type FormAnswer,
  type FormRequest,
  type PermissionAnswer,
  type PermissionPrompter,
  type PermissionRequest,
  unattended,
} from "./prompter.ts";
export { alwaysInWords, describeRule, isExpired, PermissionRule, ruleInWords, ToolPattern } from "./rule.ts";
export { createSessionAnswers, type SessionAnswers } from "./session-answers.ts";
export { createTerminalPrompter, openTerminal } from "./terminal-prompter.ts";
