import { type Claim, MODERN_VERSION } from "./client-claims.ts";
import type { Era } from "./features/capabilities.ts";
import type { Message } from "./messages.ts";

/**
 * Where a connection stands. Its first messages decide the era, and the decision stays. "foreign" means that
 * the SDK decides alone, because a message of the opening was not plain enough to judge here.
 */
export type Phase = "opening" | "probed" | "legacy" | "modern" | "foreign";

/** Undefined while nobody can tell. */
export function eraOf(phase: Phase, claim: Claim): Era | undefined {
  if (phase === "legacy") return "legacy";
  return claim.kind === "version" && claim.version === MODERN_VERSION ? "modern" : undefined;
}

/** The phase in which `message` is to be answered; the same turns as the SDK's serveStdio takes. */
export function nextPhase(phase: Phase, message: Message, claim: Claim): Phase {
  if (phase !== "opening" && phase !== "probed") return phase;
  if (claim.kind === "doubtful") return "foreign";
  if (claim.kind === "none" || isOldHandshake(message, claim.version)) return "legacy";
  if (claim.version !== MODERN_VERSION) return phase;
  if (message.id === undefined) return phase === "probed" ? "probed" : "modern";
  return message.method === "server/discover" ? "probed" : "modern";
}

const isOldHandshake = ({ method }: Message, version: string) =>
  method === "initialize" && version < MODERN_VERSION;
