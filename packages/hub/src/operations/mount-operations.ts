import { type HttpServer, methodNotAllowed, refuse } from "@octant/http";
import type { HubStore } from "../store/hub-store.ts";
import type { Metrics } from "./metrics.ts";

export interface OperationsOptions {
  readonly metrics: Metrics;
  readonly store: HubStore;
  /** Why it takes no work: a balancer sends requests elsewhere. */
  problem(): string | undefined;
}

const READING: ReadonlySet<string | undefined> = new Set(["GET", "HEAD"]);

/** Endpoints for monitoring: `/healthz` and `/readyz` need no token and reveal nothing else; `/metrics` needs one. */
export function mountOperations(
  server: Pick<HttpServer, "mount">,
  { metrics, store, problem }: OperationsOptions,
): void {
  server.mount("/healthz", {
    handlePublic(_request, response) {
      response.writeHead(200, { "content-type": "text/plain" }).end("ok\n");
      return true;
    },
  });
  server.mount("/readyz", {
    handlePublic(_request, response) {
      const answer = (status: number, text: string) =>
        response.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
      const why = problem();
      if (why !== undefined) answer(503, why);
      else
        store.leases.take("readyz", "readyz", 1).then(
          () => answer(200, "ready"),
          () => answer(503, "the database does not answer"),
        );
      return true;
    },
  });
  server.mount("/metrics", (request, response, caller) => {
    if (!READING.has(request.method)) return refuse(response, methodNotAllowed("GET, HEAD"));
    if (caller.project !== undefined)
      return refuse(response, {
        status: 403,
        message: "metrics concern the whole hub; use a token of scope admin:ro",
      });
    metrics.text().then(
      (text) => response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(text),
      () => refuse(response, { status: 500, message: "the metrics cannot be read; see the log" }),
    );
  });
}
