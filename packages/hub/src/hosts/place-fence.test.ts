import type { Dispatch, Envelope } from "@octant/core";
import { expect, test } from "vitest";
import { createPlaceFence } from "./place-fence.ts";

const CALL = { tool: "host", action: "call", input: { tool: "proc", action: "exec" } };
const OPTIONS = { caller: { id: "one", access: "write" } } as const;

const placeOf = (lease_id: string, loss?: string) => {
  const lost = new AbortController();
  return { host: "h", lease_id, lost: lost.signal, loss, lose: () => lost.abort(new Error("lost")) };
};

/** Calls that are answered when the place they reach says so. */
function createTools() {
  const ran: string[] = [];
  let at = "";
  let served = Promise.withResolvers<void>();
  const dispatch: Dispatch = async (_, { signal }) => {
    const cancelled = Promise.withResolvers<never>();
    signal?.addEventListener("abort", () => cancelled.reject(signal.reason), { once: true });
    await Promise.race([served.promise, cancelled.promise]);
    ran.push(at);
    // As a tool that has worked.
    return { envelope: { ok: true, data: at } as Envelope, attachments: [] };
  };
  return {
    ran,
    dispatch,
    serve(name: string) {
      at = name;
      served.resolve();
    },
    leave() {
      served = Promise.withResolvers();
    },
  };
}

test("a call that is made while the host is lost does not run at the next one", async () => {
  const losses: string[] = [];
  const fence = createPlaceFence((loss) => losses.push(loss));
  const tools = createTools();
  const call = fence.guard(tools.dispatch);
  const first = placeOf("lease_1");
  fence.enter(first);
  tools.serve("first");
  expect((await call(CALL, OPTIONS)).envelope).toMatchObject({ ok: true });
  tools.leave();
  first.lose();
  const waiting = call(CALL, OPTIONS);
  fence.enter(placeOf("lease_2", "files of before are lost"));
  tools.serve("second");
  expect((await waiting).envelope.error).toMatchObject({
    code: "INTERRUPTED",
    message: expect.stringContaining("files of before are lost"),
  });
  expect(tools.ran).toEqual(["first"]);
  expect(losses).toEqual(["files of before are lost"]);
  fence.stepped();
  expect((await call(CALL, OPTIONS)).envelope).toMatchObject({ ok: true, data: "second" });
});

test("a place that was lost and is back counts as another one", async () => {
  const fence = createPlaceFence(() => {});
  const tools = createTools();
  const call = fence.guard(tools.dispatch);
  tools.serve("first");
  fence.enter(placeOf("lease_1"));
  const before = fence.changes();
  fence.enter(placeOf("lease_1", "commands have ended"));
  expect(fence.changes()).toBe(before + 1);
  expect((await call(CALL, OPTIONS)).envelope.error?.code).toBe("INTERRUPTED");
});
