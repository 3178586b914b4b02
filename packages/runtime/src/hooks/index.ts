export { runHooks } from "./run-hooks.ts";
export { createHookRunner } from "./runner.ts";
