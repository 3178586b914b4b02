/** For packages that do not import the host. */
export { replaceFile } from "@octant/host";
export * from "./audit/index.ts";
export * from "./config/index.ts";
export * from "./credentials/index.ts";
export * from "./hooks/index.ts";
export * from "./permissions/index.ts";
export * from "./redact/index.ts";
