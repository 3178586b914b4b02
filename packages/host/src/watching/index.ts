export * from "./watcher.ts";
