export { type AuditLog, type AuditLogOptions, createAuditLog } from "./audit-log.ts";
export { followAudit } from "./follow.ts";
export { type KeptRecord, type ReadAuditOptions, readAudit } from "./read.ts";
export type { AuditEntry, AuditRecord, CallEntry } from "./record.ts";
export { type RecordCallOptions, recordCall } from "./record-call.ts";
export { recordUnfit } from "./record-unfit.ts";
export { type AuditKey, toAuditKey } from "./seal.ts";
export { type AuditProblem, type AuditVerdict, verifyAudit } from "./verify.ts";
