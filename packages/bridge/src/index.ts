export { type BridgeEndpoint, type FrameOutlet, mountBridge } from "./mount.ts";
export type { Identity } from "./token.ts";
