import type { IncomingMessage, ServerResponse } from "node:http";
import type { Service } from "../service.ts";
import type { RunTool } from "../tool-runner.ts";
import type { Limits } from "./limits.ts";
import type { SdkHttp } from "./sdk-http.ts";

/** The SDK's own handling of modern requests, loaded by the first request that needs it. */
export interface SdkHandler {
  answer(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void>;
  /** Requests are being answered, or streams are open. */
  readonly isBusy: boolean;
  close(): Promise<void>;
}

export function createSdkHandler(service: Service, runTool: RunTool, limits: Limits): SdkHandler {
  let loading: Promise<SdkHttp> | undefined;
  let running = 0;
  const load = async () => {
    const { createSdkHttp } = await import("./sdk-http.ts");
    return createSdkHttp(service, runTool, limits);
  };
  return {
    async answer(request, response, body) {
      running++;
      try {
        loading ??= load();
        await (await loading).answer(request, response, body);
      } finally {
        running--;
      }
    },
    get isBusy() {
      return running > 0;
    },
    close: async () => (await loading)?.close(),
  };
}
