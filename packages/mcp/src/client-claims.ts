import { LOG_LEVELS } from "./features/exchange.ts";
import { isPlain, type Message, type Plain } from "./messages.ts";

/** The revision without handshake: every request says who asks, in `_meta`. */
export const MODERN_VERSION = "2026-07-28";

/** Revisions that begin with `initialize`, newest first. */
export const HANDSHAKE_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/**
 * What a message claims about its revision. "doubtful" is not "wrong": these checks accept only what the SDK is
 * certain to accept, and leave every other judgement, and its wording, to the SDK.
 */
export type Claim =
  | { readonly kind: "none" }
  | { readonly kind: "doubtful" }
  | { readonly kind: "version"; readonly version: string };

const NONE: Claim = { kind: "none" };
const DOUBTFUL: Claim = { kind: "doubtful" };
const MODERN: Claim = { kind: "version", version: MODERN_VERSION };

export function claimOf({ meta }: Message): Claim {
  if (!meta || !(VERSION_KEY in meta)) return NONE;
  const version = meta[VERSION_KEY];
  const sound =
    typeof version === "string" &&
    isCapabilities(meta[CAPABILITIES_KEY]) &&
    (meta[CLIENT_INFO_KEY] === undefined || isImplementation(meta[CLIENT_INFO_KEY])) &&
    (meta[LOG_LEVEL_KEY] === undefined || LOG_LEVELS.some((level) => level === meta[LOG_LEVEL_KEY]));
  if (!sound) return DOUBTFUL;
  return version === MODERN_VERSION ? MODERN : { kind: "version", version };
}

/** True for an initialize that the SDK is certain to accept. */
export const isSoundHandshake = (params: Plain | undefined): params is Plain & { protocolVersion: string } =>
  params !== undefined &&
  typeof params["protocolVersion"] === "string" &&
  isCapabilities(params["capabilities"]) &&
  isImplementation(params["clientInfo"]);

/** Every capability is an object of objects, but for two flags. */
function isCapabilities(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const { roots = {}, elicitation = {}, tasks = {}, ...others } = value;
  return (
    isRoots(roots) &&
    isObjects(elicitation) &&
    isOptionalBoolean(elicitation["form"]?.["applyDefaults"]) &&
    isNestedObjects(tasks) &&
    Object.values(others).every(isObjects)
  );
}

const isRoots = (value: unknown) => isPlain(value) && isOptionalBoolean(value["listChanged"]);

const isObjects = (value: unknown): value is Readonly<Record<string, Plain>> =>
  isPlain(value) && Object.values(value).every(isPlain);

const isNestedObjects = (value: unknown): boolean =>
  isPlain(value) && Object.values(value).every(isNestedObjects);

const isOptionalBoolean = (value: unknown) => value === undefined || typeof value === "boolean";

function isImplementation(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const { name, version, title, websiteUrl, description, icons } = value;
  return (
    [name, version].every(isString) &&
    [title, websiteUrl, description].every(isOptionalString) &&
    (icons === undefined || (Array.isArray(icons) && icons.every(isIcon)))
  );
}

function isIcon(value: unknown): boolean {
  if (!isPlain(value)) return false;
  const { src, mimeType, sizes, theme } = value;
  return (
    isString(src) &&
    isOptionalString(mimeType) &&
    (sizes === undefined || (Array.isArray(sizes) && sizes.every(isString))) &&
    (theme === undefined || theme === "light" || theme === "dark")
  );
}

const isString = (value: unknown) => typeof value === "string";

const isOptionalString = (value: unknown) => value === undefined || isString(value);
