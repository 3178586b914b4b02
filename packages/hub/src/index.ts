export { chooseEngine } from "./engines/choose-engine.ts";
export type { ContainerEngine } from "./engines/engine.ts";
export { createHost, type Host, type HostOptions } from "./hosts/host.ts";
export { createHub, type Hub, type HubOptions } from "./hub.ts";
export { type InstallInContainer, toInstall } from "./install.ts";
export { type BackupManifest, backUpHub, restoreHub } from "./operations/backup.ts";
export { createPageTokens } from "./tokens/page-tokens.ts";
