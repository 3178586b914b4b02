export { CLOSE } from "./close-codes.ts";
export type { BridgeConversation, BridgeEndpoint, FrameOutlet } from "./endpoint.ts";
export { type BridgeLimits, DEFAULT_BRIDGE_LIMITS } from "./limits.ts";
export { BRIDGE_PATH, BRIDGE_PROTOCOL, type BridgeOptions, mountBridge } from "./mount.ts";
export { createTokenVerifier, type Identity, type TokenOptions, type TokenVerifier } from "./token.ts";
