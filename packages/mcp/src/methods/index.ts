import type { McpRequest } from "../connection.ts";
import type { Era } from "../era.ts";
import { LISTEN_METHOD, listen } from "../listening/listen.ts";
import type { Plain } from "../messages.ts";
import type { ServiceOptions } from "../service.ts";
import { TASKS_EXTENSION } from "../tasks/task-wire.ts";
import {
  complete,
  getPrompt,
  listPrompts,
  listResources,
  listTemplates,
  readResource,
  subscribe,
  unsubscribe,
} from "./features.ts";
import { discover, initialize, setLogLevel } from "./lifecycle.ts";
import { LEGACY_TASK_METHODS, MODERN_TASK_METHODS } from "./tasks.ts";
import { callTool, listTools } from "./tools.ts";

/** Answers one kind of request. Throws a ProtocolError for a protocol error. */
export type Method = (request: McpRequest) => Plain | Promise<Plain>;
export type Methods = ReadonlyMap<string, Method>;

/** The methods of a server with these features in an era. */
export function createMethods(options: ServiceOptions, era: Era): Methods {
  const { resources, prompts, completions, tasks, logging } = options;
  const isLegacy = era === "legacy";
  const methods: Readonly<Record<string, Method>> = {
    "tools/list": listTools,
    "tools/call": callTool,
    ...(isLegacy
      ? { initialize, ping: () => ({}) }
      : { "server/discover": discover, [LISTEN_METHOD]: listen }),
    ...(resources && {
      "resources/list": listResources,
      "resources/templates/list": listTemplates,
      "resources/read": readResource,
    }),
    ...(resources?.subscribe &&
      isLegacy && { "resources/subscribe": subscribe, "resources/unsubscribe": unsubscribe }),
    ...(prompts && { "prompts/list": listPrompts, "prompts/get": getPrompt }),
    ...(completions && { "completion/complete": complete }),
    ...(logging && isLegacy && { "logging/setLevel": setLogLevel }),
    ...(tasks && (isLegacy ? LEGACY_TASK_METHODS : MODERN_TASK_METHODS)),
  };
  return new Map(Object.entries(methods));
}

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
