import { setImmediate as oneTurn } from "node:timers/promises";

/** The rest of a longer burst waits for the next turn, which shows whether the answers are being read. */
const MAX_LINES_A_TURN = 32;

export interface LineQueueHandlers {
  readonly take: (line: string) => void;
  /** While true, no line is taken; `resume` must follow. */
  readonly isHeld: () => boolean;
  readonly onWaiting: () => void;
  readonly onEmpty: () => void;
}

/** Takes lines at once and in order, until a burst or a slow reader makes the rest wait. */
export function createLineQueue({ take, isHeld, onWaiting, onEmpty }: LineQueueHandlers) {
  const waiting: string[] = [];
  let taken = 0;
  let nextTurn: NodeJS.Immediate | undefined;

  const takeWaiting = (most: number) => {
    for (let count = 0; count < most && waiting.length > 0 && !isHeld(); count++)
      take(waiting.shift() as string);
  };
  const resume = () => {
    takeWaiting(MAX_LINES_A_TURN);
    if (waiting.length > 0) proceedLater();
    else if (!isHeld()) onEmpty();
  };
  const proceedLater = () => {
    clearImmediate(nextTurn);
    nextTurn = isHeld() ? undefined : setImmediate(resume);
  };

  return {
    push(line: string): void {
      if (waiting.length === 0 && taken < MAX_LINES_A_TURN && !isHeld()) {
        // A microtask follows the last line of a chunk.
        if (taken++ === 0)
          queueMicrotask(() => {
            taken = 0;
          });
        take(line);
      } else if (waiting.push(line) === 1) {
        onWaiting();
        proceedLater();
      }
    },
    resume,
    /** Takes the waiting lines, or drops them when held. The taken ones have a turn to be answered. */
    async end(): Promise<void> {
      clearImmediate(nextTurn);
      if (waiting.length === 0) return;
      takeWaiting(Number.POSITIVE_INFINITY);
      waiting.length = 0;
      await oneTurn();
    },
  };
}
