import type { Dispatch, Envelope } from "@octant/core";
import type { PlaceOfExec } from "../engines/engine.ts";

export type PlaceFence = ReturnType<typeof createPlaceFence>;

/** The tool and the action under which a session's calls reach the process that runs its tools. */
const isToolCall = ({ tool, action }: Parameters<Dispatch>[0]) => tool === "host" && action === "call";

/**
 * Prevents the model from acting on a host other than the one that it knows. When a session's workspace comes to
 * another host, its calls are INTERRUPTED, also those that only read, until the model has been told what was lost.
 */
export function createPlaceFence(onLoss: (loss: string) => void) {
  let place: PlaceOfExec | undefined;
  let loss: string | undefined;
  let isTold = false;
  let changes = 0;
  /** Ends calls that wait for the next place: they were made for the one before. */
  let leaving = new AbortController();
  return {
    /** The tools run in this place from now on. */
    enter(next: PlaceOfExec | undefined): void {
      // A place that was lost and is back counts as another one: its commands have ended.
      const isOther = place !== undefined && place.lost !== next?.lost;
      place = next;
      if (isOther) {
        changes += 1;
        leaving.abort();
        leaving = new AbortController();
      }
      if (!next || (!isOther && next.loss === undefined)) return;
      loss = next.loss ?? `the workspace was moved to the host ${next.host}`;
      isTold = false;
      onLoss(loss);
    },
    /** Whether the place is gone and no other one was entered. */
    isHostLost: () => place?.lost.aborted ?? false,
    /** How often the tools have come to another place. */
    changes: () => changes,
    /** The model has answered; calls after this one are made knowing what was lost, if a call said so. */
    stepped(): void {
      if (!isTold) return;
      loss = undefined;
      isTold = false;
    },
    guard:
      (dispatch: Dispatch): Dispatch =>
      async (call, options) => {
        if (!isToolCall(call)) return dispatch(call, options);
        const before = place?.lost;
        if (loss === undefined) {
          const { signal: left } = leaving;
          const signal = options.signal ? AbortSignal.any([options.signal, left]) : left;
          try {
            const answer = await dispatch(call, { ...options, signal });
            if (place?.lost === before && loss === undefined) return answer;
          } catch (cause) {
            if (!left.aborted || options.signal?.aborted) throw cause;
          }
        }
        isTold = true;
        return { envelope: toInterrupted(call, loss ?? ""), attachments: [] };
      },
  };
}

function toInterrupted({ input }: Parameters<Dispatch>[0], loss: string): Envelope {
  const { tool, action } = Object(input);
  return {
    ok: false,
    data: null,
    error: {
      code: "INTERRUPTED",
      message: `${loss}. Commands that ran have ended. Look at the files before you continue, and repeat what is missing`,
      details: {},
    },
    meta: {
      tool: String(tool),
      action: String(action),
      trace_id: "",
      paging: { cursor: null, more: false },
    },
  };
}
