export * from "./file-changes.ts";
export * from "./watcher.ts";
