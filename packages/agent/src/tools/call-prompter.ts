import { AsyncLocalStorage } from "node:async_hooks";
import { type PermissionPrompter, unattended } from "@octant/runtime";

/** One prompter for a dispatcher that serves many sessions: what a call asks goes to the prompter of that call. */
export interface CallPrompter {
  /** Given to the dispatcher's policy. */
  readonly prompter: PermissionPrompter;
  /** Runs a call whose questions go to `prompter`. */
  run<T>(prompter: PermissionPrompter, call: () => Promise<T>): Promise<T>;
}

export function createCallPrompter(): CallPrompter {
  const current = new AsyncLocalStorage<PermissionPrompter>();
  return {
    prompter: {
      requestPermission: (request) => (current.getStore() ?? unattended).requestPermission(request),
    },
    run: (prompter, call) => current.run(prompter, call),
  };
}
