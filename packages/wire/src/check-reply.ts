import { ERRORS, type Fields, isFields, ToolError } from "@octant/core";
import type { FinalResponse, ResponseEnvelope } from "./envelopes.ts";
import type { ServerReady } from "./ready.ts";

/** The body of a Reply; UPSTREAM_ERROR for anything else. By hand: it is called for every chunk. */
export function checkReply(value: unknown): ResponseEnvelope {
  if (isFields(value) && isReply(value)) return value;
  throw malformed("reply");
}

/** The body of a Ready of a server. */
export function checkReady(value: unknown): ServerReady {
  // The fields that are used without a further check.
  if (isFields(value) && Array.isArray(value["tools"]) && isOptionalList(value["declarations"]))
    return value as unknown as ServerReady;
  throw malformed("announcement");
}

const malformed = (what: string) =>
  new ToolError("UPSTREAM_ERROR", `the server sent a malformed ${what}; docs/wire.md has the fields`, {});

function isReply(value: Fields): value is Fields & ResponseEnvelope {
  switch (value["kind"]) {
    case "stream_start":
      return typeof value["stream_id"] === "string" && isOptionalNumber(value["bytes"]);
    case "stream_chunk":
      return Number.isSafeInteger(value["seq"]) && "chunk" in value;
    case "stream_end":
      return (
        Number.isSafeInteger(value["chunks"]) && isFields(value["response"]) && isFinal(value["response"])
      );
    default:
      return isFinal(value);
  }
}

function isFinal(value: Fields): value is Fields & FinalResponse {
  const { kind, meta, error } = value;
  if (!isFields(meta) || typeof meta["tool"] !== "string") return false;
  if (kind === "success") return value["attachments"] === undefined || Array.isArray(value["attachments"]);
  if (kind === "ack" || kind === "job_started") return typeof value["job_id"] === "string";
  return (
    kind === "error" &&
    isFields(error) &&
    typeof error["message"] === "string" &&
    isFields(error["details"]) &&
    Object.hasOwn(ERRORS, String(error["code"]))
  );
}

const isOptionalNumber = (value: unknown) => value === undefined || Number.isSafeInteger(value);
const isOptionalList = (value: unknown) => value === undefined || Array.isArray(value);
