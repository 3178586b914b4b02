import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { StampedEvent } from "@octant/agent";
import type { Dispatch } from "@octant/core";
import { ERRORS } from "@octant/core";
import { createEventStream, type HttpServer, methodNotAllowed, refuse } from "@octant/http";
import type { HubLogs } from "../sessions/session-logs.ts";
import { followEvents } from "./follow-events.ts";

export interface MountEventsOptions {
  readonly dispatch: Dispatch;
  readonly logs: HubLogs;
  log(line: string): void;
}

const PATH = /^\/sessions\/(?<id>ses_[a-z0-9]{1,100})\/events$/;
const NUMBER = /^\d{1,15}$/;
const KEEP_ALIVE_MS = 15_000;

/** `GET /sessions/ID/events`: the events of a session as server-sent events, resumable with Last-Event-ID. */
export function mountEvents(
  server: Pick<HttpServer, "mount">,
  { dispatch, logs, log }: MountEventsOptions,
): void {
  /** One text per event, whatever the number of readers. */
  const frames = new WeakMap<StampedEvent, string>();
  const frameOf = (event: StampedEvent): string => {
    const known = frames.get(event);
    if (known !== undefined) return known;
    const frame = `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    frames.set(event, frame);
    return frame;
  };
  const stream = async (response: ServerResponse, id: string, since: number) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const { raw, isFull } = createEventStream(response, { keepAliveMs: KEEP_ALIVE_MS });
    for await (const events of followEvents(logs, id, since, gone.signal)) {
      raw(events.map(frameOf).join(""));
      // A slow reader waits here; what it misses is read from the log.
      if (isFull()) await once(response, "drain", { signal: gone.signal }).catch(() => {});
    }
  };
  const open = new Set<ServerResponse>();
  server.mount("/sessions", {
    handle(request, response, caller) {
      if (request.method !== "GET") return refuse(response, methodNotAllowed("GET"));
      const { pathname, searchParams } = new URL(`http://hub${request.url}`);
      const { id } = PATH.exec(pathname)?.groups ?? {};
      if (id === undefined) return refuse(response, { status: 404, message: "use /sessions/ID/events" });
      const since = String(request.headers["last-event-id"] ?? searchParams.get("since_index") ?? 0);
      if (!NUMBER.test(since))
        return refuse(response, { status: 400, message: "Last-Event-ID is not a number" });
      const work = async () => {
        // The one check of access: the call that reads a session.
        const call = { tool: "session", action: "get", input: { session_id: id } };
        const { error } = (await dispatch(call, { caller })).envelope;
        if (error) return refuse(response, { status: ERRORS[error.code].http, message: error.message });
        open.add(response);
        response.once("close", () => open.delete(response));
        await stream(response, id, Number(since));
      };
      work().catch((cause: unknown) => {
        log(`hub: the events of ${id} cannot be sent: ${cause}`);
        response.destroy();
      });
    },
    close() {
      for (const response of open) response.end();
    },
  });
}
