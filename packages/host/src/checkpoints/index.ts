export type { SnapshotChange } from "./changes.ts";
export {
  type BeginOptions,
  type Checkpoints,
  type CheckpointsOptions,
  createCheckpoints,
  type OpenTurn,
} from "./checkpoints.ts";
export type { Restoration } from "./restore.ts";
export type { Checkpoint, Turn } from "./store.ts";
