import type { Readable, Writable } from "node:stream";
import { claimOf, HANDSHAKE_VERSIONS } from "./client-claims.ts";
import { parseJson } from "./json.ts";
import { resultLine, toMessage } from "./messages.ts";
import { eraOf, nextPhase, type Phase } from "./phase.ts";
import type { Offer } from "./profiles.ts";
import { knownResult, type OpeningResults } from "./results.ts";

/** The answers to a client's first questions. They follow from declarations and options alone, so they can be kept. */
export interface Opening {
  /** By revision. */
  readonly initialize: Readonly<Record<string, string>>;
  readonly discover: string;
  readonly tools: { readonly legacy: string; readonly modern: string };
  /** What the server needs to know of the list that it did not make. */
  readonly offers: readonly Offer[];
}

export interface Opened extends Pick<Opening, "offers"> {
  /** What the client said, and was answered. */
  readonly answered: readonly unknown[];
  /** The client has gone already. */
  readonly ended: boolean;
}

export interface OpeningOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly opening: Opening;
}

export const toOpening = (
  { initialize, discover, toolsList }: OpeningResults,
  { offers }: Pick<Opening, "offers">,
): Opening => ({
  initialize: Object.fromEntries(HANDSHAKE_VERSIONS.map((version) => [version, initialize(version)])),
  discover: discover(),
  tools: { legacy: toolsList("legacy"), modern: toolsList("modern") },
  offers,
});

/** Longer than any of these questions. */
const MAX_WAITING_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Answers first questions until one comes that takes a server. A client that starts its servers waits for these answers,
 * and may never ask for more: none of the tools is loaded for them. What is not answered stays in the input.
 */
export function answerOpening({ input, output, opening }: OpeningOptions): Promise<Opened> {
  const results = toResults(opening);
  const { promise, resolve } = Promise.withResolvers<Opened>();
  const answered: unknown[] = [];
  let phase: Phase = "opening";
  let waiting: Buffer = Buffer.alloc(0);

  const leave = (ended: boolean) => {
    input.off("data", take);
    for (const event of ENDINGS) input.off(event, end);
    input.pause();
    if (waiting.length > 0 && !ended) input.unshift(waiting);
    resolve({ answered, offers: opening.offers, ended });
  };
  const goOn = () => leave(false);
  const end = () => leave(true);

  /** False when it takes a server. */
  const answer = (line: string): boolean => {
    const value = parse(line);
    const message = toMessage(value);
    if (!message) return false;
    const claim = claimOf(message);
    const next = nextPhase(phase, message, claim);
    if (message.id !== undefined) {
      const era = eraOf(next, claim);
      const result = era && knownResult(message, era, results);
      if (result === undefined) return false;
      output.write(`${resultLine(message.id, result)}\n`);
    } else if (message.method !== "notifications/initialized") return false;
    phase = next;
    answered.push(value);
    return true;
  };
  const take = (chunk: Buffer) => {
    waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk;
    for (let at = waiting.indexOf(NEWLINE); at !== -1; at = waiting.indexOf(NEWLINE)) {
      if (!answer(waiting.toString("utf8", 0, at))) return goOn();
      waiting = waiting.subarray(at + 1);
    }
    if (waiting.length > MAX_WAITING_BYTES) goOn();
  };
  input.on("data", take);
  for (const event of ENDINGS) input.on(event, end);
  return promise;
}

const ENDINGS = ["end", "close", "error"] as const;

const toResults = ({ initialize, discover, tools }: Opening): OpeningResults => ({
  // Whoever asks for a revision that is not known is offered the newest.
  initialize: (version) => initialize[version] ?? initialize[HANDSHAKE_VERSIONS[0] ?? ""] ?? "",
  discover: () => discover,
  toolsList: (era) => tools[era],
});

function parse(line: string): unknown {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}
