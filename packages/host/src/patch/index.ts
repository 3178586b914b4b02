export { type Applied, applyChange } from "./apply.ts";
export { type EntryType, type FileChange, type HunkReport, type Match, StructuredEdit } from "./change.ts";

export { MAX_FILES, MAX_PATCH_BYTES, parsePatch } from "./parse.ts";
export { unifiedDiff } from "./unified-diff.ts";
