export {
  type BridgeEndpoint,
  type BridgeLimits,
  DEFAULT_BRIDGE_LIMITS,
  type FrameOutlet,
  mountBridge,
} from "./mount.ts";
export { CLOSE } from "./stream.ts";
export { createTokenVerifier, type Identity, type TokenOptions } from "./token.ts";
