import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type CallOptions, ToolError } from "@octant/core";
import { canShowForms, toAnswer, toFormParams } from "../asking/forms.ts";
import { createInputRequired } from "../asking/input-required.ts";
import { isPlain, type Plain } from "../messages.ts";
import type { Service } from "../service.ts";
import type { Era } from "./capabilities.ts";
import type { Exchange, InputRequests } from "./exchange.ts";

/** People take their time; the call's own signal ends the waiting. */
const PERSON_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/** A request that may put questions to the client before it is answered. */
export interface AskingRequest {
  readonly server: Server;
  readonly service: Service;
  readonly era: Era;
  readonly context: ServerContext;
  /** What is asked for, so that answers given for one thing serve for no other. */
  readonly subject: string;
  readonly args: Plain;
}

/** The ways to the client, for as long as the request is not answered. */
export interface Ways {
  readonly ask: NonNullable<CallOptions["ask"]>;
  readonly exchange: Exchange;
}

/** Does the work of a request, and answers with its result or with what has to be asked first. */
export async function answerOrAsk<R extends object>(
  request: AskingRequest,
  work: (ways: Ways) => Promise<R>,
): Promise<R> {
  const { ways, instead } = request.era === "modern" ? createModernWays(request) : createLegacyWays(request);
  try {
    const result = await work(ways);
    // To the SDK a question is a result of any method that may ask.
    return (instead() as R | undefined) ?? result;
  } catch (cause) {
    // Work that was ended by its own question has failed for that reason only.
    const question = instead() as R | undefined;
    if (question) return question;
    throw cause;
  }
}

/** What a client of the modern revision says of itself in every request. */
export function declaredBy({ mcpReq }: ServerContext): unknown {
  const envelope: Plain | undefined = mcpReq.envelope;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY];
}

interface WaysOfEra {
  readonly ways: Ways;
  /** The result that takes the answer's place; it throws where that is an error. */
  instead(): Plain | undefined;
}

function createModernWays({ service, context, subject, args }: AskingRequest): WaysOfEra {
  const { mcpReq } = context;
  const capabilities = toPlain(declaredBy(context));
  const call = { caller: service.caller.id, tool: subject, args };
  const requestState = mcpReq.requestState();
  const { inputResponses } = mcpReq;
  const form = createInputRequired({ ...call, capabilities, inputResponses, requestState }, service.states);
  if (!form) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
      reason: "invalid_request_state",
    });
  }
  const rounds = (requestState === undefined ? [] : (service.states.open(requestState, call) ?? [])).map(
    ({ content }) => toPlain(content),
  );
  let round = 0;
  let asked: InputRequests | undefined;
  let missing: Plain | undefined;
  const exchange: Exchange = {
    capabilities,
    async request(inputs) {
      const before = rounds[round++];
      if (before) return before;
      const given = pick(inputResponses, Object.keys(inputs));
      if (given) {
        rounds.push(given);
        return given;
      }
      asked = inputs;
      throw notYet();
    },
    require(needed) {
      missing = lackOf(needed, capabilities);
      if (missing) throw notYet();
    },
    log: (level, data) => void mcpReq.log(level, data).catch(() => {}),
  };
  return {
    ways: { ask: form.ask, exchange },
    instead() {
      if (missing) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: missing });
      if (!asked) return form.result();
      const answers = rounds.map((content) => ({ action: "accept", content }) as const);
      return {
        resultType: "input_required",
        inputRequests: asked,
        requestState: service.states.seal({ ...call, answers }),
      };
    },
  };
}

function createLegacyWays({ server, context }: AskingRequest): WaysOfEra {
  const { mcpReq } = context;
  const capabilities = toPlain(server.getClientCapabilities());
  /** Undefined when the client answers with an error, or not at all. */
  const send = async (method: InputRequests[string]["method"], params: Plain) => {
    try {
      // The three methods have different parameters; the client judges them.
      const request = { method, params } as never;
      const sent: Promise<unknown> = mcpReq.send(request, {
        signal: mcpReq.signal,
        timeout: PERSON_TIMEOUT_MS,
      });
      return await sent;
    } catch (cause) {
      mcpReq.signal.throwIfAborted();
      if (cause instanceof Error) return undefined;
      throw cause;
    }
  };
  const exchange: Exchange = {
    capabilities,
    async request(inputs) {
      const answers = Object.entries(inputs).map(async ([name, { method, params }]) => {
        const answer = await send(method, params);
        return answer === undefined ? [] : [[name, answer] as const];
      });
      return Object.fromEntries((await Promise.all(answers)).flat());
    },
    require(needed) {
      const missing = lackOf(needed, capabilities);
      if (!missing) return;
      const what = `a client with ${JSON.stringify(missing)}`;
      throw new ToolError("UNSUPPORTED", `this needs ${what}`, { what, how: "use a client that has it" });
    },
    log: (level, data) => void mcpReq.log(level, data).catch(() => {}),
  };
  const ask: Ways["ask"] = async (question) => {
    if (!canShowForms(capabilities)) return undefined;
    const answer = await send("elicitation/create", toFormParams(question));
    return answer === undefined ? undefined : (toAnswer(answer) ?? { action: "cancel" });
  };
  return { ways: { ask, exchange }, instead: () => undefined };
}

const notYet = () => new ToolError("APPROVAL_REQUIRED", "the client has to be asked first", { by: "client" });

const toPlain = (value: unknown): Plain => (isPlain(value) ? value : {});

/** All of them, or nothing. */
function pick(responses: unknown, names: readonly string[]): Plain | undefined {
  if (!isPlain(responses) || !names.every((name) => Object.hasOwn(responses, name))) return undefined;
  return Object.fromEntries(names.map((name) => [name, responses[name]]));
}

/** The needed capabilities that are not there, in the shape in which they would be declared. */
function lackOf(needed: Plain, there: Plain): Plain | undefined {
  const lacking = Object.entries(needed).flatMap(([name, inside]) => {
    const has = there[name];
    if (!isPlain(has)) return [[name, inside]];
    const deeper = isPlain(inside) ? lackOf(inside, has) : undefined;
    return deeper ? [[name, deeper]] : [];
  });
  return lacking.length > 0 ? Object.fromEntries(lacking) : undefined;
}
