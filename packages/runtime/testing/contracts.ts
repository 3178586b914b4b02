export { describeAuditLog } from "./audit/audit-log-contract.ts";
