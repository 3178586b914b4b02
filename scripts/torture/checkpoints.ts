import { runTests } from "./fuzz.ts";
import type { Torture } from "./report.ts";

const FOLDER = "packages/host/src/checkpoints";

/** Random trees and random shell scripts: undo restores the tree before, redo the tree after, byte for byte. */
export const checkpointSequences: Torture = async (count) => ({
  what: `${count} random command sequences undone and redone`,
  ...(await runTests([`${FOLDER}/checkpoints.test.ts`], { FUZZ_RUNS: String(count) })),
});

/** Random turns with ignore files, branches and nested repositories, and a person who edits meanwhile. */
export const turnSequences: Torture = async (count) => ({
  what: `${count} random sequences of turns, edits of a person, undos and redos`,
  ...(await runTests([`${FOLDER}/turns.test.ts`], { FUZZ_RUNS: String(count) })),
});

/** A process that takes checkpoints and undoes is killed repeatedly. */
export const checkpointKills: Torture = async (count) => ({
  what: `${count} kill -9 during checkpoints and undos`,
  ...(await runTests([`${FOLDER}/killed.test.ts`], { CHECKPOINT_KILLS: String(count) })),
});
