export { type CodeOptions, code, createDiagnosticsAfterEdit, type SymbolIndex } from "./code/index.ts";
export { event } from "./event/index.ts";
export { fs } from "./fs/index.ts";
export { job } from "./job/index.ts";
export { memory } from "./memory/index.ts";
export { loadOwnMemoryFiles, MEMORY_FOLDER } from "./memory/stores.ts";
export { type ActiveModes, createActiveModes, type DeveloperMode, mode } from "./mode/index.ts";
export { type NetOptions, net } from "./net/index.ts";
export { type PlanOptions, plan } from "./plan/index.ts";
export { proc } from "./proc/index.ts";
export {
  createSourceFiles,
  type Recalled,
  type RecallRequest,
  type SearchOptions,
  search,
} from "./search/index.ts";
export { config } from "./store/config.ts";
export { test } from "./test/index.ts";
export { think } from "./think/index.ts";
export { type UiOptions, ui } from "./ui/index.ts";
export { type VcsWorkspace, vcs } from "./vcs/index.ts";
export * as workspaceTools from "./workspace-tools.ts";
export { type WsOptions, ws } from "./ws/index.ts";
