import { createCursors, createDispatcher, createRegistry, type PackContext } from "@octant/core";
import { settings, tools } from "../src/index.ts";
import type { Settings } from "../src/settings.ts";
import { type Exchange, openHanzoService } from "./hanzo-service.ts";

export const TOKEN = "sk-hanzo-0123456789abcdef";

/**
 * The pack on a service that expects these requests. `signIns`: the tokens that a sign-in has, one after the other; the
 * service accepts the last.
 */
export async function openHanzo(
  exchanges: readonly Exchange[],
  signIns: readonly string[] = [TOKEN],
  accepted = signIns.slice(-1),
) {
  const service = await openHanzoService(exchanges, accepted);
  const bugs: unknown[] = [];
  const asked: string[] = [];
  let at = 0;
  const context: PackContext<Settings> = {
    settings: settings.parse({ base_url: service.base_url }),
    folder: "/nowhere",
    roots: [],
    log: () => {},
    onClose: () => {},
    client: () => {
      throw new Error("the pack uses no tools");
    },
    async credentials(provider, { refused = false } = {}) {
      asked.push(provider);
      if (refused) at = Math.min(at + 1, signIns.length - 1);
      return { authorization: `Bearer ${signIns[at]}` };
    },
  };
  const registry = createRegistry(tools(context));
  const dispatch = createDispatcher({
    registry,
    cursors: createCursors(new Uint8Array(32)),
    onBug: ({ cause }) => bugs.push(cause),
  });
  return {
    ...service,
    registry,
    asked,
    async call(name: string, input: object, signal?: AbortSignal) {
      const [tool = "", action = ""] = name.split(".");
      const caller = { id: "me", access: "admin" } as const;
      const { envelope } = await dispatch({ tool, action, input }, { caller, ...(signal && { signal }) });
      return envelope;
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      if (bugs.length > 0) throw bugs[0];
    },
  };
}
