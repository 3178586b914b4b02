export * from "./budget.ts";
export * from "./builtins.ts";
export type { CallEvent } from "./calls.ts";
export * from "./client.ts";
export type { Clock } from "./clock.ts";
export { didYouMean, nearestName } from "./did-you-mean.ts";
export * from "./dispatch.ts";
export * from "./envelope.ts";
export * from "./errors.ts";
export * from "./help.ts";
export * from "./holds.ts";
export * from "./ids.ts";
export * from "./jobs/index.ts";
export { Lines, toRange } from "./lines.ts";
export * from "./lookup.ts";
export * from "./modes.ts";
export * from "./outline.ts";
export * from "./paging.ts";
export * from "./registry.ts";
export type { JobStarted } from "./run-action.ts";
export {
  asksForLargeAnswer,
  type CallRunnerOptions,
  createCallRunner,
  createLargeCalls,
  type LargeCalls,
  MAX_CALLS_IN_FLIGHT,
  MAX_LARGE_CALLS,
  type RunCall,
} from "./running/call-runner.ts";
export * from "./schema.ts";
export * from "./schema-page.ts";
export * from "./stream.ts";
export { createDescribe, createToText, type Describe, type ToText } from "./text/read-envelope.ts";
export { type ActionText, counted, factsOf, type Reader } from "./text/text.ts";
export * from "./tool.ts";
export * from "./topic.ts";
export * from "./trace.ts";
export { toOneLine, toVisible } from "./visible.ts";
