import { INTERNAL_ERROR, INVALID_PARAMS, isPlain, type Plain } from "../src/messages.ts";

/**
 * An answer without the accepted differences from the official SDK:
 * - Errors are compared by code; their wording and details are ours.
 * - Malformed parameters are -32602 here; the SDK answers some of them with -32603 and a dump of its validator.
 * - `server/discover` also carries the server's description and icons.
 *
 * Six more are left out of the conversations, most with their own tests:
 * - A message that is not JSON-RPC but has an id is answered with -32600; the SDK is silent.
 * - Unknown members of a JSON-RPC message are ignored; the SDK drops or refuses the message.
 * - An argument named `__proto__` is refused by the dispatcher like any unknown one; the SDK drops it.
 * - Only the members of a client's description that we read are validated.
 * - A value that is not a JSON-RPC message is -32600 in an HTTP session; the SDK calls it -32700, although it is JSON.
 * - A modern connection refuses requests for other revisions; the SDK answers them.
 */
export function withoutDifferences(message: unknown): unknown {
  if (!isPlain(message)) return message;
  const { error, result, ...rest } = message;
  if (isPlain(error)) return { ...rest, code: codeOf(error) };
  if (!isPlain(result) || !("supportedVersions" in result)) return message;
  const { _meta, ...discovered } = result;
  return { ...rest, result: discovered };
}

const codeOf = ({ code, message }: Plain) =>
  code === INTERNAL_ERROR && String(message).startsWith("[\n") ? INVALID_PARAMS : code;
