import { expect, test } from "vitest";
import { type OutgoingMessage, PendingRequest } from "./pending-request.ts";

const REQUEST: OutgoingMessage = { command: "request", contentType: "msgpack", body: new Uint8Array() };

test("a request is sent again on a new connection, and one that was cancelled ends there", async () => {
  const sent: string[] = [];
  const stopping = new AbortController();
  const pending = new PendingRequest(REQUEST, { signal: stopping.signal }, ({ command }) => {
    sent.push(command);
  });
  const answer = pending.run();
  pending.resend();
  stopping.abort();
  pending.resend();
  await expect(answer).rejects.toMatchObject({ code: "CANCELLED" });
  expect(sent).toEqual(["request", "request", "disconnect", "disconnect"]);
});
