export { type Applied, applyChange } from "./apply.ts";
export { type EntryType, type FileChange, type HunkReport, type Match, StructuredEdit } from "./change.ts";
export { MAX_BINARY_BYTES } from "./git-binary.ts";
export { MAX_EDITS, MAX_FILES, MAX_PATCH_BYTES, parsePatch } from "./parse.ts";
export { type DiffOptions, unifiedDiff } from "./unified-diff.ts";
