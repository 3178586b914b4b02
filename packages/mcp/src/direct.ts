import { createElicitation } from "./asking/elicitation.ts";
import { createInputRequired } from "./asking/input-required.ts";
import { CAPABILITIES_KEY, type Claim, claimOf, isSoundHandshake, MODERN_VERSION } from "./client-claims.ts";
import {
  type CallParams,
  createDirectCalls,
  isCallParams,
  type Outlet,
  RETRY_MEMBERS,
} from "./direct-calls.ts";
import {
  errorLine,
  INVALID_PARAMS,
  INVALID_REQUEST,
  idsAwaited,
  isResponse,
  type Message,
  notificationLine,
  type Plain,
  type RequestId,
  resultLine,
  toMessage,
  UNSUPPORTED_PROTOCOL_VERSION,
} from "./messages.ts";
import { nextPhase, type Phase } from "./phase.ts";
import { createResults } from "./results.ts";
import type { Position } from "./sdk-bridge.ts";
import { createSdkGate } from "./sdk-gate.ts";
import type { Service } from "./service.ts";
import { createToolRunner } from "./tool-runner.ts";

/** One client's connection, apart from how its bytes travel. */
export interface Conversation {
  /** Takes one parsed message; the lines that answer it go to the outlet. */
  receive(value: unknown): void;
  /** The outlet is no longer full. */
  resume(): void;
  /** Cancels what runs. Nothing is answered afterwards. */
  close(): Promise<void>;
}

/**
 * Answers the everyday methods itself, in the very bytes that the SDK would write, and hands all others to the
 * SDK. A message is answered here only when it is certain what the SDK would make of it.
 */
export function createConversation(service: Service, outlet: Outlet): Conversation {
  const results = createResults(service);
  const runTool = createToolRunner(service);
  const calls = createDirectCalls(service, runTool, outlet);
  const sdk = createSdkGate({ service, runTool, write: (line) => outlet.write(line) });
  let phase: Phase = "opening";
  let position: Position = { phase: "opening", handshake: undefined };
  let initialized = false;
  const elicitation = createElicitation({
    handshake: () => position.handshake,
    write: (line) => outlet.write(line),
  });

  const stopTelling = service.onListChanged(() => {
    if (initialized) outlet.write(notificationLine("notifications/tools/list_changed"));
  });

  /** The result that is known at once; undefined when there is none, or when it is for the SDK to say. */
  function resultOf({ method, params }: Message, era: Era): string | undefined {
    if (method === "tools/list" && params?.["cursor"] === undefined) return results.toolsList(era);
    if (era === "modern") return method === "server/discover" ? results.discover() : undefined;
    if (method === "ping") return "{}";
    if (method !== "initialize" || !isSoundHandshake(params)) return undefined;
    position = { phase: "legacy", handshake: params };
    return results.initialize(params.protocolVersion);
  }

  function receiveRequest(id: RequestId, value: unknown, message: Message, claim: Claim): void {
    const { method, params, meta } = message;
    const era = eraOf(phase, claim);
    const result = era && resultOf(message, era);
    if (result !== undefined) outlet.write(resultLine(id, result));
    else if (era === "legacy" && method === "tools/call" && isCallParams(params)) {
      calls.start({ id, params, meta, stamp: "", asking: elicitation });
    } else if (era === "modern" && method === "tools/call" && isCallParams(params, RETRY_MEMBERS)) {
      startModern(id, params, meta);
    } else if (isUndecided(phase) && claim.kind === "version" && claim.version !== MODERN_VERSION) {
      outlet.write(refuseVersion(id, claim.version));
    } else sdk.deliver(value, position);
  }

  function startModern(id: RequestId, params: Plain & CallParams, meta: Plain | undefined): void {
    const { name: tool, arguments: args = {}, inputResponses, requestState } = params;
    const asking = createInputRequired(
      {
        ...{ caller: service.caller.id, tool, args, inputResponses, requestState },
        capabilities: meta?.[CAPABILITIES_KEY],
      },
      service.states,
    );
    if (!asking) {
      outlet.write(refuseState(id));
      return;
    }
    const question = () => {
      const result = asking.result();
      return result && results.question(result);
    };
    calls.start({ id, params, meta, stamp: results.modernStamp, asking: { ask: asking.ask, question } });
  }

  function receiveNotification(value: unknown, { method, params }: Message): void {
    if (method === "notifications/initialized") {
      initialized = phase === "legacy";
      return;
    }
    if (method === "notifications/cancelled") calls.cancel(params);
    // Before the SDK is there, nothing is that another notification could concern.
    if (sdk.used) sdk.deliver(value, position);
  }

  /** The SDK drops these without a word, and the client would wait for ever. */
  function refuse(value: unknown): void {
    const ids = idsAwaited(value);
    for (const id of ids) outlet.write(errorLine(id, INVALID_REQUEST, INVALID_REQUEST_TEXT));
    if (ids.length === 0) service.log("mcp: dropped what is no request and no notification");
  }

  return {
    receive(value) {
      const message = toMessage(value);
      if (!message) {
        if (isResponse(value) && elicitation.receive(value)) return;
        if (sdk.used && isResponse(value)) sdk.deliver(value, position);
        else refuse(value);
        return;
      }
      const claim = claimOf(message);
      phase = nextPhase(phase, message, claim);
      if (phase === "foreign") return sdk.deliver(value, position);
      if (phase !== position.phase) position = { ...position, phase };
      if (message.id === undefined) receiveNotification(value, message);
      else receiveRequest(message.id, value, message, claim);
    },
    resume: calls.resume,
    async close() {
      stopTelling();
      elicitation.close();
      calls.cancelAll();
      await sdk.close();
    },
  };
}

type Era = "legacy" | "modern";

function eraOf(phase: Phase, claim: Claim): Era | undefined {
  if (phase === "legacy") return "legacy";
  return claim.kind === "version" && claim.version === MODERN_VERSION ? "modern" : undefined;
}

const refuseState = (id: RequestId) =>
  errorLine(id, INVALID_PARAMS, "Invalid or expired requestState", { reason: "invalid_request_state" });

const INVALID_REQUEST_TEXT =
  "Invalid Request: send one JSON-RPC 2.0 request a line, with method a string, params an object, and no batches";

const isUndecided = (phase: Phase) => phase === "opening" || phase === "probed";

const refuseVersion = (id: RequestId, requested: string) =>
  errorLine(id, UNSUPPORTED_PROTOCOL_VERSION, `Unsupported protocol version: ${requested}`, {
    supported: [MODERN_VERSION],
    requested,
  });
