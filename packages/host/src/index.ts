export * from "./blobs/blobs.ts";
export * from "./browser/index.ts";
export {
  type BeginOptions,
  type Checkpoint,
  type Checkpoints,
  createCheckpoints,
  type OpenTurn,
  type Restoration,
  type SnapshotChange,
  type Turn,
} from "./checkpoints/index.ts";
export * from "./confinement.ts";
export * from "./edits/compare.ts";
export * from "./edits/edits.ts";
export { MAX_EDIT_BYTES } from "./edits/existing-file.ts";
export { createLock, type Lock, type LockOptions } from "./edits/lock.ts";
export { errnoOf } from "./errno.ts";
export type * from "./files/file-content.ts";
export * from "./files/files.ts";
export { imageSize } from "./files/image-size.ts";
export { MAX_IMAGE_BYTES } from "./files/images.ts";
export type * from "./files/read-file.ts";
export { toPlace } from "./files/refs.ts";
export { MAX_HASHED_BYTES } from "./files/stat.ts";
export { restOfCharacter, wholeCharacters } from "./files/text.ts";
export * from "./git/index.ts";
export * from "./hashes.ts";
export { backgroundClock, systemClock } from "./jobs/clock.ts";
export { createJobStore } from "./jobs/job-store.ts";
export { isAlive, thisProcess } from "./jobs/process-identity.ts";
export * from "./language-servers/index.ts";
export * from "./network/index.ts";
export * from "./patch/index.ts";
export * from "./path.ts";
export * from "./processes/index.ts";
export { startLaunched } from "./programs/start-program.ts";
export { findOutsideProjects, pathOutsideProjects } from "./programs/trusted-program.ts";
export * from "./sandbox/index.ts";
export * from "./screen/index.ts";
export * from "./search/ripgrep.ts";
export * from "./search/search-text.ts";
export { shellQuote } from "./shell-quote.ts";
export * from "./state.ts";
export * from "./store/index.ts";
export { syncFolder } from "./sync-folder.ts";
export { cacheFolder } from "./user-folders.ts";
export * from "./watching/index.ts";
export * from "./workspace.ts";
