export { APART_PROXY, createSandbox } from "./create-sandbox.ts";
export { type Exchange, openPlainExchange } from "./exchange.ts";
export type { Launch, LaunchedCommand, Sandbox, SandboxStatus } from "./sandbox.ts";
export {
  DEFAULT_SANDBOX,
  isWeaker,
  type NetworkRule,
  SANDBOX_LEVELS,
  SANDBOX_MODES,
  type SandboxMode,
  type SandboxSettings,
} from "./settings.ts";
