import { createElicitation } from "./asking/elicitation.ts";
import { type Claim, claimOf, MODERN_VERSION } from "./client-claims.ts";
import { type CallParams, createDirectCalls, isCallParams, type Outlet } from "./direct-calls.ts";
import type { Era } from "./features/capabilities.ts";
import { LISTEN_METHOD } from "./listening/filter.ts";
import { createListens } from "./listening/listens.ts";
import { createAllowance, createSubscriptions } from "./listening/subscriptions.ts";
import {
  errorLine,
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
import { isModernCall, refuseState, toModernCall } from "./modern-call.ts";
import { eraOf, nextPhase, type Phase } from "./phase.ts";
import { createResults, knownResult } from "./results.ts";
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
  const listens = createListens(service, outlet);
  const subscriptions = createSubscriptions({
    ...{ service, allowance: createAllowance() },
    tell: (uri) => outlet.write(notificationLine("notifications/resources/updated", { uri })),
    canTell: () => !outlet.isFull() && outlet.hasListener !== false,
  });
  const sdk = createSdkGate({
    ...{ service, runTool, subscriptions },
    write: (line, about) => outlet.write(line, about),
  });
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

  function resultOf(message: Message, era: Era): string | undefined {
    const result = knownResult(message, era, results);
    if (result !== undefined && era === "legacy" && message.method === "initialize")
      position = { phase: "legacy", handshake: message.params };
    return result;
  }

  function receiveRequest(id: RequestId, value: unknown, message: Message, claim: Claim): void {
    const era = eraOf(phase, claim);
    const result = era && resultOf(message, era);
    if (result !== undefined) outlet.write(resultLine(id, result), id);
    else if (era === "legacy" && isLegacyCall(message)) {
      calls.start({ id, params: message.params, meta: message.meta, stamp: "", asking: elicitation });
    } else if (era === "modern" && isModernCall(message, service)) {
      const call = toModernCall(id, message, service, results);
      if (call) calls.start(call);
      else outlet.write(refuseState(id), id);
    } else if (era === "modern" && message.method === LISTEN_METHOD) {
      listens.start(id, message);
    } else if (isUndecided(phase) && claim.kind === "version" && claim.version !== MODERN_VERSION) {
      outlet.write(refuseVersion(id, claim.version), id);
    } else sdk.deliver(value, position);
  }

  const isLegacyCall = (message: Message): message is Message & { params: Plain & CallParams } =>
    message.method === "tools/call" && isCallParams(message.params) && !service.isForSdk(message.params.name);

  function receiveNotification(value: unknown, { method, params }: Message): void {
    if (method === "notifications/initialized") {
      initialized = phase === "legacy";
      return;
    }
    if (method === "notifications/cancelled") {
      calls.cancel(params);
      listens.cancel(params);
    }
    // Before the SDK is there, nothing is that another notification could concern.
    if (sdk.isUsed()) sdk.deliver(value, position);
  }

  /** The SDK drops these without a word, and the client would wait for ever. */
  function refuse(value: unknown): void {
    const ids = idsAwaited(value);
    for (const id of ids) outlet.write(errorLine(id, INVALID_REQUEST, INVALID_REQUEST_TEXT), id);
    if (ids.length === 0) service.log("mcp: dropped a message that is neither a request nor a notification");
  }

  return {
    receive(value) {
      const message = toMessage(value);
      if (!message) {
        if (isResponse(value) && elicitation.receive(value)) return;
        if (sdk.isUsed() && isResponse(value)) sdk.deliver(value, position);
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
      listens.close();
      subscriptions.close();
      elicitation.close();
      calls.cancelAll();
      await sdk.close();
    },
  };
}

const INVALID_REQUEST_TEXT =
  "Invalid Request: send one JSON-RPC 2.0 request a line, with method a string, params an object, and no batches";

const isUndecided = (phase: Phase) => phase === "opening" || phase === "probed";

const refuseVersion = (id: RequestId, requested: string) =>
  errorLine(id, UNSUPPORTED_PROTOCOL_VERSION, `Unsupported protocol version: ${requested}`, {
    supported: [MODERN_VERSION],
    requested,
  });
