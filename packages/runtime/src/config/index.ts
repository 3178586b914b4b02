export type * from "./config.ts";
export { DEFAULT_TOOLS } from "./defaults.ts";
export * from "./explain.ts";
export { type LoadOptions, loadConfig } from "./load.ts";
export * from "./local-rule.ts";
export { nearestName } from "./nearest-name.ts";
export { type Person, projectFile, settingsPlaces, userFile, userFolder } from "./places.ts";
export {
  type Dictionary,
  type ServerSettings,
  type Settings,
  settingsSchema,
  THINKING,
  type Thinking,
} from "./schema.ts";
export { SettingsError, type SettingsIssue } from "./settings-error.ts";
export * from "./settings-schema.ts";
export { type Origin, TIERS, type TierName } from "./tiers.ts";
export { listTrust, revokeTrust, type Trusted, trustFolder, untrustedError } from "./trust.ts";
export {
  createInstructionTrust,
  type InstructionContent,
  trustInstructions,
} from "./trust-instructions.ts";
export { addUserServers, removeUserServer } from "./user-servers.ts";
export { setUserSettings } from "./user-settings.ts";
