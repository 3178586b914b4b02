export {
  API_NAMES,
  type ApiName,
  type Fault,
  type Script,
  type ScriptedPart,
  type ScriptedRequest,
  type ScriptedResult,
  type ScriptedTurn,
  type ScriptedUsage,
} from "./script.ts";
export { createScriptedProvider, type ScriptedProvider, type ScriptedProviderOptions } from "./server.ts";
