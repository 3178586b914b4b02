import { ToolError } from "@octant/core";
import type { Outlet } from "../direct-calls.ts";
import { notificationLine, type Plain, type RequestId } from "../messages.ts";
import type { Service } from "../service.ts";
import type { Filter } from "./filter.ts";
import { type Allowance, createSubscriptions } from "./subscriptions.ts";

export interface ListenRequest {
  readonly id: RequestId;
  readonly filter: Filter;
}

/** What one `subscriptions/listen` of a modern client has opened. */
export interface Listening {
  /** Resolves with whether anything will be told, once the client knows what. */
  readonly acknowledged: Promise<boolean>;
  /** Tells nothing more. */
  stop(): void;
  /** Tells nothing more but that it is over. */
  end(): void;
}

const SUBSCRIPTION_ID_KEY = "io.modelcontextprotocol/subscriptionId";
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";

/** First the client is told what of its wishes is heeded: that of which we know, and which it may read. */
export function startListening(
  service: Service,
  { id, filter }: ListenRequest,
  outlet: Outlet,
  allowance: Allowance,
): Listening {
  const stamp = { [SUBSCRIPTION_ID_KEY]: id };
  const stops: (() => void)[] = [];
  let state: "opening" | "open" | "stopped" = "opening";

  const tell = (method: string, params?: Plain) => {
    if (state === "open") outlet.write(notificationLine(method, { ...params, _meta: stamp }), id);
  };
  const subscriptions = createSubscriptions({
    ...{ service, allowance },
    tell: (uri) => tell("notifications/resources/updated", { uri }),
    canTell: () => state === "open" && !outlet.isFull(),
  });
  stops.push(subscriptions.close);

  const subscribe = async (uris: readonly string[]): Promise<readonly string[]> => {
    const heeded: string[] = [];
    for (const uri of new Set(uris)) {
      const isAdded = await subscriptions.add(uri).catch((cause: unknown) => {
        if (!(cause instanceof ToolError) && state !== "stopped")
          service.log(`mcp: ${uri} was not subscribed to: ${cause}`);
        return false;
      });
      if (isAdded) heeded.push(uri);
    }
    return heeded;
  };
  const acknowledge = (honoured: Filter): boolean => {
    if (state === "stopped") return false;
    state = "open";
    tell("notifications/subscriptions/acknowledged", { notifications: honoured });
    if (honoured.toolsListChanged)
      stops.push(service.onListChanged(() => tell("notifications/tools/list_changed")));
    if (honoured.promptsListChanged)
      stops.push(service.prompts?.onChange?.(() => tell("notifications/prompts/list_changed")) ?? (() => {}));
    if (honoured.resourcesListChanged)
      stops.push(
        service.resources?.onListChange?.(() => tell("notifications/resources/list_changed"), service) ??
          (() => {}),
      );
    return Object.keys(honoured).length > 0;
  };
  const open = async (uris: readonly string[]) => {
    const heeded = await subscribe(uris);
    return acknowledge({ ...flags, ...(heeded.length > 0 && { resourceSubscriptions: heeded }) });
  };
  const { tools, prompts, resources } = service.capabilities.modern;
  const flags: Filter = {
    ...(filter.toolsListChanged && tools.listChanged && { toolsListChanged: true }),
    ...(filter.promptsListChanged && prompts?.listChanged && { promptsListChanged: true }),
    ...(filter.resourcesListChanged && resources?.listChanged && { resourcesListChanged: true }),
  };
  const uris = resources?.subscribe ? (filter.resourceSubscriptions ?? []) : [];
  const stop = () => {
    state = "stopped";
    for (const one of stops.splice(0)) one();
  };
  return {
    // At once where nothing has to be looked at, so that it comes before whatever is answered next.
    acknowledged: uris.length > 0 ? open(uris) : Promise.resolve(acknowledge(flags)),
    stop,
    end() {
      if (state === "open") {
        const _meta = { ...stamp, [SERVER_INFO_KEY]: service.serverInfo };
        const result = { resultType: "complete", _meta };
        outlet.write(JSON.stringify({ jsonrpc: "2.0", id, result }), id);
      }
      stop();
    },
  };
}
