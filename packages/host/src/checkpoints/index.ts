export type { SnapshotChange } from "./changes.ts";
export { type Checkpoints, createCheckpoints, type OpenTurn } from "./checkpoints.ts";

export type { Turn } from "./store.ts";
