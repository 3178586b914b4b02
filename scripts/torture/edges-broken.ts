import { readMessage } from "./edges-calls.ts";

export const MAX_GROWN_BYTES = 32 * 1024 * 1024;
export const MAX_NEXT_CALL_MS = 10_000;
/** The engine grows to a working size and returns no memory, so a warm-up precedes the measured frames. */
export const WARM_UP_SHARE = 0.2;

const GOOD = JSON.stringify(readMessage(1, "marked/1.txt"));
const bytes = (text: string) => Buffer.from(text);

/** Ways to break a message. */
const BREAKS: readonly ((random: () => number) => Buffer)[] = [
  (random) => bytes(GOOD.slice(0, Math.floor(random() * GOOD.length))),
  (random) => flipped(bytes(GOOD), random),
  () => Buffer.concat([bytes(GOOD.slice(0, 40)), Buffer.from([0xff, 0xc0, 0x80]), bytes(GOOD.slice(40))]),
  () => bytes(GOOD.replace("marked", "mar\u0000ked")),
  () => bytes("[".repeat(50_000)),
  () =>
    bytes(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(1_000)}1${"}".repeat(1_000)}}`,
    ),
  () => bytes(`[${Array(100).fill(GOOD).join(",")}]`),
  () => bytes(GOOD.replace('"id":1', '"id":{"a":[]}')),
  () => bytes(GOOD.replace('"id":1', '"id":1.5')),
  () => bytes(GOOD.replace('"id":1', '"id":1,"id":2')),
  () => bytes(GOOD.replace('"2.0"', '"1.0"')),
  () => bytes(GOOD.replace('"fs"', "[]")),
  () => bytes(GOOD.replace('"arguments":{', '"arguments":{"__proto__":{"polluted":true},')),
  () => bytes(GOOD.replace("2026-07-28", "2099-99-99")),
  () =>
    bytes(
      GOOD.replace(
        '"io.modelcontextprotocol/clientCapabilities":{}',
        '"io.modelcontextprotocol/clientCapabilities":5',
      ),
    ),
  () => bytes(GOOD.replace("tools/call", "constructor")),
  () => bytes('{"jsonrpc":"2.0","id":1,"result":{}}'),
  () => bytes("null"),
  () => bytes("1e999999"),
  () => bytes(`"${"\\u0000".repeat(10_000)}"`),
  () => Buffer.alloc(0),
];

export function flipped(buffer: Buffer, random: () => number): Buffer {
  for (let times = 0; times < 4; times++)
    buffer[Math.floor(random() * buffer.length)] = Math.floor(random() * 256);
  return buffer;
}

/** A message broken in one of these ways. */
export const broken = (random: () => number): Buffer =>
  BREAKS[Math.floor(random() * BREAKS.length)]?.(random) ?? Buffer.alloc(0);
