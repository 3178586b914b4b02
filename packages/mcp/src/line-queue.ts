import { setImmediate as oneTurn } from "node:timers/promises";

/** Of a longer burst the rest waits for the next turn, when it shows whether the answers are being read. */
const MAX_LINES_A_TURN = 32;

export interface LineQueueHandlers {
  readonly take: (line: string) => void;
  /** While true, nothing is taken; `resume` tells when that is over. */
  readonly isHeld: () => boolean;
  readonly onWaiting: () => void;
  readonly onEmpty: () => void;
}

/** Lines are taken at once, in their order, until a burst of them or a slow reader makes the others wait. */
export interface LineQueue {
  /** Tells that a chunk of lines begins. */
  startTurn(): void;
  push(line: string): void;
  resume(): void;
  /** Takes what waits, unless it is held; then it is dropped. What was taken has a turn to be answered. */
  end(): Promise<void>;
}

export function createLineQueue({ take, isHeld, onWaiting, onEmpty }: LineQueueHandlers): LineQueue {
  const waiting: string[] = [];
  let taken = 0;
  let nextTurn: NodeJS.Immediate | undefined;

  const takeWaiting = (most: number) => {
    for (taken = 0; taken < most && waiting.length > 0 && !isHeld(); taken++) take(waiting.shift() as string);
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
    startTurn() {
      taken = 0;
    },
    push(line) {
      if (waiting.length === 0 && taken < MAX_LINES_A_TURN && !isHeld()) {
        taken++;
        take(line);
      } else if (waiting.push(line) === 1) {
        onWaiting();
        proceedLater();
      }
    },
    resume,
    async end() {
      clearImmediate(nextTurn);
      if (waiting.length === 0) return;
      takeWaiting(Number.POSITIVE_INFINITY);
      waiting.length = 0;
      await oneTurn();
    },
  };
}
