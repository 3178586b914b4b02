export type { BridgeEndpoint, FrameOutlet } from "./endpoint.ts";
export { type BridgeLimits, DEFAULT_BRIDGE_LIMITS, mountBridge } from "./mount.ts";
export { CLOSE } from "./stream.ts";
export { createTokenVerifier, type Identity, type TokenOptions } from "./token.ts";
