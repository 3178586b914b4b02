interface Moment {
  readonly steady: number;
  readonly wall: number;
}

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() });

/** The steady clock stops while the machine sleeps, and the wall clock may be set: the larger difference counts. */
const since = ({ steady, wall }: Moment): number => Math.max(performance.now() - steady, Date.now() - wall);

/**
 * Derives whether this hub and others are alive from its reports to the database, each of which is valid for `lifeMs`.
 */
export function createLife(lifeMs: number) {
  /** The times of the last report: before it was sent, and when it was stored. */
  let last: { readonly sent: Moment; readonly stored: Moment } | undefined;
  let gap: Moment | undefined;
  const isLate = () => last !== undefined && since(last.stored) > lifeMs / 2;
  return {
    /** Sends a report. */
    async report(send: () => Promise<void>): Promise<void> {
      const sent = now();
      await send();
      // The database may have been away, and then the others could not report either.
      if (isLate()) gap = now();
      last = { sent, stored: now() };
    },
    /** Whether no other hub can have taken over the projects of this one. */
    isSure: (): boolean => last !== undefined && since(last.sent) < lifeMs,
    /** Whether a hub whose reports are too old must be gone. */
    canJudge: (): boolean => last !== undefined && !isLate() && (gap === undefined || since(gap) > lifeMs),
    end(): void {
      last = undefined;
    },
  };
}
