export { type Container, detectContainer } from "./container.ts";
export { APART_PROXY, createSandbox } from "./create-sandbox.ts";
export { type Exchange, openPlainExchange } from "./exchange.ts";
export type * from "./sandbox.ts";
export * from "./settings.ts";
