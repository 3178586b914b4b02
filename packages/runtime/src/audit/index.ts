export { createAuditLog } from "./audit-log.ts";
export { followAudit } from "./follow.ts";
export { type ChainRecord as KeptRecord, readAudit } from "./read.ts";

export { recordCall } from "./record-call.ts";
export { recordUnfit } from "./record-unfit.ts";
export { toAuditKey } from "./seal.ts";
export { type AuditVerdict, verifyAudit } from "./verify.ts";
