export * from "./code/index.ts";
export { fs } from "./fs/index.ts";
export { job } from "./job/index.ts";
export { type NetOptions, net } from "./net/index.ts";
export { proc } from "./proc/index.ts";
export { createSourceFiles, type SearchOptions, search } from "./search/index.ts";
export { test } from "./test/index.ts";
export { type VcsWorkspace, vcs } from "./vcs/index.ts";
export { type WsOptions, ws } from "./ws/index.ts";
