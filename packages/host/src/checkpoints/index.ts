export type { SnapshotChange } from "./changes.ts";
export { type Checkpoints, type CheckpointsOptions, createCheckpoints } from "./checkpoints.ts";
export type { Checkpoint } from "./store.ts";
