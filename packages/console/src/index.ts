export { API_PATH, CONSOLE_PATH, KEY_HEADER } from "./api.ts";
export { type Console, type ConsoleOptions, createConsole } from "./console.ts";
export { createEntrance, type Entrance } from "./entrance.ts";
export { SESSION_LIFE_MS } from "./entry.ts";
export type { Machine } from "./processes.ts";
