import { createHmac, timingSafeEqual } from "node:crypto";
import { ToolError } from "@octant/core";
import type { WireKeys } from "../zmq/keys.ts";
import { encodeFrames, findMagic } from "./frames.ts";

const TIME_BYTES = 8;
const MAC_BYTES = 32;
/**
 * Older and newer messages are refused, so that a recorded one soon becomes useless. De-duplication covers this
 * period.
 */
const MAX_SKEW_MS = 60_000;

type Outgoing = Parameters<typeof encodeFrames>[0];

/** The frames of a message, signed where the keys are for signing. */
export function sealFrames(message: Outgoing, keys: WireKeys | undefined): Uint8Array[] {
  const frames = encodeFrames(message);
  return keys?.kind === "hmac" ? signFrames(frames, keys.key, Date.now()) : frames;
}

interface OpenedFrames {
  readonly frames: readonly Uint8Array[];
  /** When it was signed, where the keys are for signing. */
  readonly signedAt?: number;
}

/** The frames of a message, whose signature was checked where the keys are for signing. */
export const openFrames = (
  frames: readonly Uint8Array[],
  leading: number,
  keys: WireKeys | undefined,
): OpenedFrames => (keys?.kind === "hmac" ? verifyFrames(frames, leading, keys.key, Date.now()) : { frames });

/** Adds an eighth frame: the time in milliseconds (u64 big-endian) and HMAC-SHA-256 over it and the seven frames. */
export function signFrames(frames: readonly Uint8Array[], key: Uint8Array, now: number): Uint8Array[] {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigUInt64BE(BigInt(Math.floor(now)));
  return [...frames, Buffer.concat([time, macOf(frames, time, key)])];
}

/** Returns the frames without the signature, or throws UNAUTHENTICATED. The `leading` frames and more in front are not signed. */
function verifyFrames(
  frames: readonly Uint8Array[],
  leading: number,
  key: Uint8Array,
  now: number,
): OpenedFrames {
  const signature = frames.at(-1);
  const signed = frames.slice(findMagic(frames, leading), -1);
  if (signature?.length !== TIME_BYTES + MAC_BYTES) throw refuse("the signature frame is missing");
  const time = Buffer.from(signature.subarray(0, TIME_BYTES));
  if (!timingSafeEqual(macOf(signed, time, key), signature.subarray(TIME_BYTES)))
    throw refuse("the signature is wrong");
  const signedAt = Number(time.readBigUInt64BE());
  if (Math.abs(signedAt - now) > MAX_SKEW_MS) throw refuse("the signature is too old, or a clock is wrong");
  return { frames: frames.slice(0, -1), signedAt };
}

/** The password of a subscriber of broadcasts, so that the key itself is not sent. */
export const broadcastPassword = (key: Uint8Array): string =>
  createHmac("sha256", key).update("broadcast").digest("hex");

/** Each frame with its length, so that bytes cannot move from one to the next. */
function macOf(frames: readonly Uint8Array[], time: Uint8Array, key: Uint8Array): Buffer {
  const mac = createHmac("sha256", key).update(time);
  for (const frame of frames) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(frame.length);
    mac.update(length).update(frame);
  }
  return mac.digest();
}

const refuse = (message: string) =>
  new ToolError("UNAUTHENTICATED", `${message}; both ends need the same key file`, {});
