import {
  backoffCap,
  compactMessages,
  createBackoff,
  createSseFrameBuffer,
  type Message,
  retryAfterMs,
} from "@octant/agent";
import { createToolNames } from "@octant/mcp";
import { isVerifier, toChallenge } from "@octant/runtime";
import type { Domain, VectorCase } from "./load-vectors.ts";
import { mergeConfig } from "./own-config.ts";
import { decide } from "./own-policy.ts";

/** Octant's answer to a case. */
export const answerCase = async ({ domain, input }: VectorCase): Promise<unknown> =>
  // As JSON, like the answer of another implementation.
  JSON.parse(JSON.stringify(await OWN[domain](input)));

// The inputs come from our own files, whose form vectors.test.ts checks; hence the casts below.
const OWN: Readonly<Record<Domain, (input: Readonly<Record<string, unknown>>) => unknown>> = {
  "sse-frames": (input) => {
    const buffer = createSseFrameBuffer();
    const chunks = input["chunks"] as readonly string[];
    return { frames: [...chunks.flatMap((chunk) => buffer.feed(chunk)), ...buffer.end()] };
  },
  "mcp-normalization": (input) => {
    const names = createToolNames();
    const places = input["places"] as readonly { server: string; tool: string }[];
    return { names: places.map(({ server, tool }) => names.nameOf(server, tool)) };
  },
  "permission-policy": (input) => decide(input as unknown as Parameters<typeof decide>[0]),
  "session-compaction": (input) => {
    const { messages, ...options } = input as unknown as Compaction;
    return { compacted: compactMessages(messages, options) ?? null };
  },
  "oauth-pkce": (input) => {
    const verifier = String(input["verifier"]);
    return isVerifier(verifier) ? { challenge: toChallenge(verifier) } : { error: "invalid_verifier" };
  },
  "config-merge": (input) => mergeConfig(input),
  "backoff-timing": (input) => timeBackoff(input as unknown as Timing),
};

interface Compaction {
  readonly messages: readonly Message[];
  readonly reserve_recent: number;
  readonly ledger: string;
  readonly summary: string;
}

interface Timing {
  readonly base_ms: number;
  readonly max_ms: number;
  readonly random?: readonly number[];
  readonly reset_after?: number;
  readonly attempts?: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
  readonly text?: string;
  readonly now: number;
}

function timeBackoff(input: Timing): object {
  const { random, attempts, headers, text = "", now } = input;
  if (random) {
    let at = 0;
    const backoff = createBackoff({ ...input, random: () => random[at] ?? 0 });
    const delays = random.map((_, index) => {
      if (index === input.reset_after) backoff.reset();
      at = index;
      return backoff.next();
    });
    return { delays_ms: delays };
  }
  if (attempts) return { caps_ms: attempts.map((attempt) => backoffCap(attempt, input)) };
  return { retry_after_ms: retryAfterMs(new Headers(headers), text, now) ?? null };
}
