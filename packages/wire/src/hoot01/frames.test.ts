import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMsgPack } from "../msgpack/codec.ts";
import {
  COMMANDS,
  CONTENT_TYPES,
  type Command,
  type ContentType,
  encodeFrames,
  MAX_BODY_BYTES,
  parseFrames,
} from "./frames.ts";

interface Vectors {
  readonly valid: readonly {
    readonly name: string;
    readonly frames: readonly string[];
    readonly routed: boolean;
    readonly identities: number;
    readonly message: {
      readonly command: Command;
      readonly contentType: ContentType;
      readonly requestId: string;
      readonly service: string;
      readonly traceparent: string;
    };
    readonly body?: unknown;
  }[];
  readonly invalid: readonly {
    readonly name: string;
    readonly frames: readonly string[];
    readonly routed: boolean;
    readonly code: string;
    readonly path: string;
  }[];
}

const FILE = join(import.meta.dirname, "../../../../vectors/hoot01-frames.json");
const { valid, invalid }: Vectors = JSON.parse(readFileSync(FILE, "utf8"));
const toBytes = (hex: string) => Buffer.from(hex, "hex");
const failureOf = (run: () => unknown): ToolError => {
  try {
    run();
  } catch (cause) {
    if (cause instanceof ToolError) return cause;
    throw cause;
  }
  throw new Error("nothing was thrown");
};

describe("vectors/hoot01-frames.json", () => {
  test.each(valid)("$name: frames and message convert into each other", (vector) => {
    const frames = vector.frames.map(toBytes);
    const { identities, message } = parseFrames(frames, vector);
    expect(identities).toEqual(frames.slice(0, vector.identities));
    expect({
      ...message,
      requestId: Buffer.from(message.requestId).toString("hex"),
      body: undefined,
    }).toEqual({
      ...vector.message,
      body: undefined,
    });
    if (vector.body !== undefined) expect(parseMsgPack(message.body)).toEqual(vector.body);
    expect(encodeFrames(message).map((frame) => Buffer.from(frame).toString("hex"))).toEqual(
      vector.frames.slice(vector.identities),
    );
  });

  test.each(invalid)("$name: a typed error that names the frame", ({ frames, routed, code, path }) => {
    const failure = failureOf(() => parseFrames(frames.map(toBytes), { routed }));
    expect(failure).toMatchObject({ code, details: { issues: [{ path }] } });
  });
});

test("every message survives encoding and parsing, behind any route", () => {
  const names = <T extends object>(codes: T) => fc.constantFrom(...(Object.keys(codes) as (keyof T)[]));
  const bytes = (options: fc.IntArrayConstraints) => fc.uint8Array(options).map((one) => Buffer.from(one));
  fc.assert(
    fc.property(
      fc.array(bytes({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
      fc.record({
        command: names(COMMANDS),
        contentType: names(CONTENT_TYPES),
        requestId: bytes({ minLength: 16, maxLength: 16 }),
        service: fc.string({ maxLength: 32 }),
        traceparent: fc.string({ maxLength: 32 }),
        body: bytes({ maxLength: 64 }),
      }),
      (identities, given) => {
        const message = given.contentType === "empty" ? { ...given, body: Buffer.alloc(0) } : given;
        expect(parseFrames([...identities, ...encodeFrames(message)], { routed: true })).toEqual({
          identities,
          message,
        });
      },
    ),
  );
});

test("arbitrary frames are a message or a ToolError, never anything else", () => {
  const frame = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.constant(Buffer.from("HOOT01")),
    fc.constant(Buffer.from([0, 2])),
  );
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 12 }), fc.boolean(), (frames, routed) => {
      try {
        parseFrames(frames, { routed });
      } catch (cause) {
        expect(cause).toBeInstanceOf(ToolError);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a message truncated at any byte of its wire form is a typed error", () => {
  const [first] = valid;
  const frames = (first?.frames ?? []).map(toBytes);
  const total = frames.reduce((sum, frame) => sum + frame.length, 0);
  for (let cut = 0; cut < total; cut++) {
    let left = cut;
    const kept = frames.flatMap((frame) => {
      const part = frame.subarray(0, left);
      left = Math.max(0, left - frame.length);
      return part.length > 0 ? [part] : [];
    });
    // A cut inside the body leaves seven frames: then the body is refused.
    const failure = failureOf(() => parseMsgPack(parseFrames(kept, { routed: false }).message.body));
    expect(failure.code).toBe("INVALID_ARGUMENT");
  }
});

test("a body above 16 MiB is TOO_LARGE, one of 16 MiB is not", () => {
  const frames = (bytes: number) =>
    encodeFrames({ command: "reply", contentType: "raw", body: Buffer.alloc(bytes) });
  expect(failureOf(() => parseFrames(frames(MAX_BODY_BYTES + 1), { routed: false }))).toMatchObject({
    code: "TOO_LARGE",
    details: { limit: MAX_BODY_BYTES, actual: MAX_BODY_BYTES + 1 },
  });
  expect(parseFrames(frames(MAX_BODY_BYTES), { routed: false }).message.body.length).toBe(MAX_BODY_BYTES);
});
