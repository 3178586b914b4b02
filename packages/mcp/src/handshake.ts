import type { Readable, Writable } from "node:stream";
import type { Answers, Offer } from "@octant/core";
import { attempt } from "@octant/core";
import { clientInfoIn, createFormFor } from "./answer.ts";
import { type Era, HANDSHAKE_VERSIONS, judge, type Phase } from "./era.ts";
import { type Message, type Plain, parseJson, toMessage, toResultMessage } from "./messages.ts";
import { isHandshake, negotiate, toDiscoverResult, toInitializeResult } from "./methods/lifecycle.ts";
import { toToolList } from "./methods/tools.ts";
import { toModernResult } from "./modern-result.ts";
import type { Service } from "./service.ts";

/** The results of a client's first requests. They depend only on declarations and options, so they can be cached. */
export interface HandshakeResults {
  /** By revision. */
  readonly initialize: Readonly<Record<string, Plain>>;
  readonly discover: Plain;
  readonly tools: Readonly<Record<Answers, Readonly<Record<Era, Plain>>>>;
  /** The form of all answers; absent when it depends on the client. */
  readonly answers?: Answers;
  /** The offered tools, for the server that takes over and has not built the list. */
  readonly offers: readonly Offer[];
}

export const toHandshakeResults = (service: Service): HandshakeResults => ({
  initialize: Object.fromEntries(
    HANDSHAKE_VERSIONS.map((version) => [version, toInitializeResult(service, version)]),
  ),
  discover: toModernResult(service, "server/discover", toDiscoverResult(service)),
  tools: { structured: toToolLists(service, "structured"), text: toToolLists(service, "text") },
  ...(service.answers !== undefined && { answers: service.formFor(undefined) }),
  offers: service.listing.current().offers,
});

const toToolLists = (service: Service, answers: Answers): Readonly<Record<Era, Plain>> => ({
  legacy: toToolList(service, "legacy", answers),
  modern: toModernResult(service, "tools/list", toToolList(service, "modern", answers)),
});

export interface AnsweredHandshake extends Pick<HandshakeResults, "offers"> {
  /** The client's messages that were answered. */
  readonly answered: readonly unknown[];
  /** The client has already disconnected. */
  readonly ended: boolean;
}

/** Longer than any of these requests. */
const MAX_WAITING_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Answers the first requests from cached results until one needs a server. A client waits for these answers when it
 * starts its servers and may never ask for more, so no tool is loaded for them. Unanswered bytes stay in the input.
 */
export function answerHandshake(
  input: Readable,
  output: Writable,
  results: HandshakeResults,
): Promise<AnsweredHandshake> {
  const { promise, resolve } = Promise.withResolvers<AnsweredHandshake>();
  const answered: unknown[] = [];
  const formFor = createFormFor(results.answers);
  let phase: Phase = "undecided";
  let handshake: Plain | undefined;
  let waiting: Buffer = Buffer.alloc(0);

  const leave = (ended: boolean) => {
    input.off("data", take);
    for (const event of ENDINGS) input.off(event, end);
    input.pause();
    if (waiting.length > 0 && !ended) input.unshift(waiting);
    resolve({ answered, offers: results.offers, ended });
  };
  const handOver = () => leave(false);
  const end = () => leave(true);

  /** False when the message needs a server. */
  const answer = (line: string): boolean => {
    const value = parse(line);
    const message = toMessage(value);
    if (!message) return false;
    const { phase: next, era, refusal } = judge(phase, message);
    if (message.id !== undefined) {
      if (message.method === "initialize") handshake = message.params;
      const answers = formFor(clientInfoIn(handshake, message.meta));
      const result = era && !refusal ? cachedResult(message, era, answers, results) : undefined;
      if (!result) return false;
      output.write(`${JSON.stringify(toResultMessage(message.id, result))}\n`);
    } else if (message.method !== "notifications/initialized") return false;
    phase = next;
    answered.push(value);
    return true;
  };
  const take = (chunk: Buffer) => {
    waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk;
    for (let at = waiting.indexOf(NEWLINE); at !== -1; at = waiting.indexOf(NEWLINE)) {
      if (!answer(waiting.toString("utf8", 0, at))) return handOver();
      waiting = waiting.subarray(at + 1);
    }
    if (waiting.length > MAX_WAITING_BYTES) handOver();
  };
  input.on("data", take);
  for (const event of ENDINGS) input.on(event, end);
  return promise;
}

const ENDINGS = ["end", "close", "error"] as const;

function cachedResult(
  { method, params }: Message,
  era: Era,
  answers: Answers,
  results: HandshakeResults,
): Plain | undefined {
  if (method === "tools/list" && params?.["cursor"] === undefined) return results.tools[answers][era];
  if (era === "modern") return method === "server/discover" ? results.discover : undefined;
  if (method === "ping") return {};
  return method === "initialize" && isHandshake(params)
    ? results.initialize[negotiate(params.protocolVersion)]
    : undefined;
}

const parse = (line: string): unknown => attempt(() => parseJson(line));
