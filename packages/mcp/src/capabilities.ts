import type { Era } from "./era.ts";
import type { ServiceOptions } from "./service.ts";
import { TASKS_EXTENSION } from "./tasks/task-wire.ts";

/** The capabilities that the server declares. Tasks used to be a part of the protocol and are now an extension. */
export function toCapabilities(options: ServiceOptions, era: Era) {
  const { resources, prompts, completions, tasks, logging } = options;
  return {
    tools: { listChanged: true },
    ...(resources && {
      resources: {
        ...(resources.subscribe && { subscribe: true }),
        ...(resources.onListChange && { listChanged: true }),
      },
    }),
    ...(prompts && { prompts: prompts.onChange ? { listChanged: true } : {} }),
    ...(completions && { completions: {} }),
    ...(logging && { logging: {} }),
    ...(tasks && era === "legacy" && { tasks: LEGACY_TASKS }),
    ...(tasks && era === "modern" && { extensions: { [TASKS_EXTENSION]: {} } }),
  };
}

export type Capabilities = ReturnType<typeof toCapabilities>;

const LEGACY_TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
