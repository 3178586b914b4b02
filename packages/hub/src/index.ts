export { chooseEngine } from "./engines/choose-engine.ts";
export type { ContainerEngine } from "./engines/engine.ts";
export { createHost } from "./hosts/host.ts";
export { createHub, type Hub } from "./hub.ts";
export { toInstall } from "./install.ts";
export { backUpHub, restoreHub } from "./operations/backup.ts";
export { createPageTokens } from "./tokens/page-tokens.ts";
