import { AsyncLocalStorage } from "node:async_hooks";
import { type PermissionPrompter, unattended } from "@octant/runtime";

/** One prompter for a dispatcher that serves many sessions: routes each question to the prompter of its call. */
export interface CallPrompter {
  /** Passed to the dispatcher's policy. */
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
