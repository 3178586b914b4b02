export { createConsole } from "./console.ts";
export { createEntrance, type Entrance } from "./entrance.ts";
export { SESSION_LIFE_MS } from "./entry.ts";
