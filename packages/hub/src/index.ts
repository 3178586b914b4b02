export type { ContainerEngine } from "./engines/engine.ts";
export { createHub, type Hub, type HubOptions } from "./hub.ts";
