export type { Config, EffectiveSettings, WaitingForTrust } from "./config.ts";
export { type Origin, TIERS, type TierName } from "./config.ts";
export { DEFAULT_TOOLS } from "./defaults.ts";
export { explainConfig } from "./explain.ts";
export { type LoadOptions, loadConfig } from "./load.ts";
export { addLocalRule } from "./local-rule.ts";
export { nearestName } from "./nearest-name.ts";
export { settingsPlaces } from "./places.ts";
export { type ServerSettings, THINKING, type Thinking } from "./schema.ts";
export { SettingsError } from "./settings-error.ts";
export { renderSettings, toSettingsSchema } from "./settings-schema.ts";
export {
  createInstructionTrust,
  type InstructionContent,
  listTrust,
  revokeTrust,
  trustFolder,
  trustInstructions,
  untrustedError,
} from "./trust.ts";
export { addUserServers, removeUserServer, setUserSettings } from "./user-settings.ts";
