import type { StateFolder } from "@octant/host";
import { toAuditKey } from "@octant/runtime";

/** Where the audit log of a workspace is, and the key of its seals. */
export const auditPlaceOf = (state: StateFolder) => ({
  folder: state.folder("audit"),
  witnesses: state.folderBeside("audit-witness"),
  key: toAuditKey(state.secret()),
});
