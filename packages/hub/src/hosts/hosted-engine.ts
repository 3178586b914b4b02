import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { newHandle, ToolError } from "@octant/core";
import type { HeldPlace } from "@octant/wire";
import { type ContainerEngine, type ContainerState, NETWORKS, type OnLine } from "../engines/engine.ts";
import type { Hello } from "./operations.ts";

const unsupported = async (): Promise<never> => {
  throw new ToolError("UNSUPPORTED", "hosts do not support this operation", {
    what: "this operation on hosts",
    how: "run it with octant hub --engine on the machine itself, or name an image of a registry or a Containerfile",
  });
};
const NO_CONTAINERS: Omit<ContainerEngine, "status" | "close"> = {
  create: unsupported,
  start: unsupported,
  stop: unsupported,
  remove: unsupported,
  inspect: unsupported,
  list: unsupported,
  exec: unsupported,
  logs: unsupported,
  stats: unsupported,
  hits: unsupported,
  hasImage: unsupported,
  build: unsupported,
  importImage: unsupported,
  pull: unsupported,
};

/** The images of the host that has a place. */
export function engineOf(place: HeldPlace): ContainerEngine {
  const withLines = async (
    operation: string,
    input: object,
    onLine: OnLine,
    signal: AbortSignal,
    context?: NodeJS.ReadableStream,
  ) => {
    const id = newHandle("build", Date.now());
    const printed = place.reader(id, "out");
    const lines = createInterface({ input: printed }).on("line", onLine);
    const up = context && place.writer(id, "in");
    // The host reads it as soon as it has the request, and maybe not to its end.
    if (up) pipeline(context, up).catch(() => {});
    try {
      await place.ask(operation, { id, ...input }, signal);
    } finally {
      up?.close();
      up?.destroy();
      lines.close();
      printed.close();
    }
  };
  return {
    ...NO_CONTAINERS,
    async status() {
      const { engine } = await place.ask<Hello>("hello");
      // A host of the same version wrote it.
      return engine as Awaited<ReturnType<ContainerEngine["status"]>>;
    },
    hasImage: (image) => place.ask("has_image", { image }),
    build: ({ context, ...spec }, onLine, signal) => withLines("build", spec, onLine, signal, context),
    pull: (image, onLine, signal) => withLines("pull", { image }, onLine, signal),
    close: async () => {},
  };
}

export interface HostedEngineOptions extends Pick<ContainerEngine, "close"> {
  stateOf(key: string): Promise<ContainerState | undefined>;
  stats(key: string): Promise<unknown>;
  logs(key: string, wanted: object): Promise<unknown>;
}

/** All hosts as one engine, for the parts of the hub that only ask. */
export const toHostedEngine = ({ stateOf, stats, logs, close }: HostedEngineOptions): ContainerEngine => ({
  ...NO_CONTAINERS,
  close,
  status: async () => ({
    name: "hosts",
    available: true,
    images: true,
    detail: "containers of the hosts that pull work from NATS (octant host)",
    // Each host refuses what its own engine does not enforce.
    enforces: ["cpus", "memory_mb", "pids", "disk_mb", ...NETWORKS.map((one) => `network:${one}` as const)],
  }),
  inspect: stateOf,
  // A host of the same version answers.
  stats: async (id) => (await stats(id)) as Awaited<ReturnType<ContainerEngine["stats"]>>,
  logs: async (id, wanted) => String((await logs(id, wanted)) ?? ""),
});
