export { createFileChanges, type FileChanges } from "./file-changes.ts";
export { type ChangeListener, createWatcher, type Watcher } from "./watcher.ts";
