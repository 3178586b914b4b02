import { expect, test } from "vitest";
import { createIdScanner } from "./id-scanner.ts";

const LONG = "x".repeat(5_000);

test.each([
  [{ jsonrpc: "2.0", id: 7, method: "tools/call", params: { text: LONG } }, 7],
  [{ method: "tools/call", params: { id: 1, text: `"id":2,{[${LONG}` }, jsonrpc: "2.0", id: 'a"b' }, 'a"b'],
  [{ params: [{ id: 1 }], id: 3 }, 3],
  [{ method: LONG, id: 0 }, 0],
  [{ method: "x", params: { id: 9 } }, null],
  [{ id: { a: 1 } }, null],
  [[{ id: 1 }], null],
])("the id of %# is found wherever it stands, and no other", (message, id) => {
  const bytes = Buffer.from(JSON.stringify(message, null, 1));
  const whole = createIdScanner();
  whole.feed(bytes);
  expect(whole.id()).toBe(id);
  const single = createIdScanner();
  for (const byte of bytes) single.feed(Buffer.of(byte));
  expect(single.id()).toBe(id);
});
