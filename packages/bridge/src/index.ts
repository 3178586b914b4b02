export { CLOSE } from "./close-codes.ts";
export type { BridgeEndpoint, FrameOutlet } from "./endpoint.ts";
export { type BridgeLimits, DEFAULT_BRIDGE_LIMITS } from "./limits.ts";
export { mountBridge } from "./mount.ts";
export { createTokenVerifier, type Identity, type TokenOptions } from "./token.ts";
