import { LOG_LEVELS } from "./asking/exchange.ts";
import {
  INVALID_PARAMS,
  isPlain,
  type Message,
  type Plain,
  ProtocolError,
  UNSUPPORTED_PROTOCOL_VERSION,
} from "./messages.ts";

/** Revisions with a handshake are `legacy`; the one whose requests each identify the client is `modern`. */
export type Era = "legacy" | "modern";

export const MODERN_VERSION = "2026-07-28";

/** Revisions that start with `initialize`, newest first. */
export const HANDSHAKE_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];

export const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
export const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/** The phase of a connection. Its first messages decide the era for good. */
export type Phase = "undecided" | "probed" | Era;

export interface Judgement {
  readonly phase: Phase;
  /** undefined while the message decides nothing. */
  readonly era?: Era;
  /** The problem with the message's claimed revision. */
  readonly refusal?: ProtocolError;
}

/** The era in which the next message of a connection is answered. */
export function judge(phase: Phase, message: Message): Judgement {
  if (phase === "legacy") return LEGACY;
  const isHandshake = message.method === "initialize" && !claimsModern(message.meta);
  if (phase === "modern") {
    if (isHandshake) return { phase, refusal: unsupportedVersion(message.params?.["protocolVersion"]) };
    const refusal = refusalOf(message.meta);
    return refusal ? { phase, era: "modern", refusal } : MODERN;
  }
  if (isHandshake || !hasClaim(message.meta)) return LEGACY;
  const refusal = refusalOf(message.meta);
  if (refusal) return { phase, refusal };
  const isProbe = message.id === undefined ? phase === "probed" : message.method === "server/discover";
  return isProbe ? PROBED : MODERN;
}

const LEGACY: Judgement = { phase: "legacy", era: "legacy" };
const MODERN: Judgement = { phase: "modern", era: "modern" };
const PROBED: Judgement = { phase: "probed", era: "modern" };

const hasClaim = (meta: Plain | undefined): boolean => meta !== undefined && VERSION_KEY in meta;

/** Whether it is a valid message of the modern revision or a later one. */
export const claimsModern = (meta: Plain | undefined): boolean =>
  String(meta?.[VERSION_KEY]) >= MODERN_VERSION && problemOf(meta ?? {}) === undefined;

/** Why a message does not belong to the modern revision; undefined when it does. */
export function refusalOf(meta: Plain | undefined): ProtocolError | undefined {
  const problem = problemOf(meta ?? {});
  if (problem) {
    const message = `Invalid _meta for protocol revision ${MODERN_VERSION}: ${problem.key}: ${problem.problem}`;
    return new ProtocolError(INVALID_PARAMS, message, { envelope: problem });
  }
  const version = meta?.[VERSION_KEY];
  return version === MODERN_VERSION ? undefined : unsupportedVersion(version);
}

/** Only members that we read are validated. */
function problemOf(meta: Plain): { readonly key: string; readonly problem: string } | undefined {
  for (const [key, { fits, problem }] of Object.entries(MEMBERS))
    if (!fits(meta[key])) return { key, problem: key in meta ? problem : "missing" };
  return undefined;
}

const MEMBERS: Readonly<Record<string, { fits(value: unknown): boolean; readonly problem: string }>> = {
  [VERSION_KEY]: { fits: (value) => typeof value === "string", problem: "expected a string" },
  [CAPABILITIES_KEY]: { fits: isPlain, problem: "expected an object" },
  [LOG_LEVEL_KEY]: {
    fits: (value) => value === undefined || LOG_LEVELS.some((level) => level === value),
    problem: `expected one of ${LOG_LEVELS.join(", ")}`,
  },
};

const unsupportedVersion = (requested: unknown): ProtocolError =>
  new ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, `Unsupported protocol version: ${requested}`, {
    supported: [MODERN_VERSION],
    requested,
  });
