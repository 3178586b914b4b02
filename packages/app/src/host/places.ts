import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type { MemberHost, MemberHosts, NewTurn, OpenTurn, ToolHost, UndoPlan } from "@octant/agent";
import { type Context, type Questions, ToolError } from "@octant/core";

/** A place that a session opened, until its client leaves. */
interface Place extends OpenedPlace {
  /** Changes with every restart: a call of an earlier epoch may have run then. */
  readonly epoch: string;
  /** By the name that the client gives to the turn. */
  readonly turns: Map<string, PlaceTurn>;
  readonly plans: Map<string, UndoPlan>;
}

interface PlaceTurn extends OpenTurn {
  /** Its id once it has begun; undefined when it ended before. */
  readonly begun: Promise<number | undefined>;
}

export interface OpenedPlace {
  readonly host: ToolHost;
  readonly members: MemberHosts;
  readonly questions: Questions;
  /** That of a sub-agent. */
  readonly member?: MemberHost;
  close(): Promise<void>;
}

/** The places that sessions of other processes have opened here. */
export function createPlaces() {
  // Known before it is open, so that a call right behind the request that opens it waits.
  const places = new Map<string, Promise<Place>>();
  const find = async (id: string): Promise<Place> => {
    const place = await places.get(id);
    if (place) return place;
    throw new ToolError("NOT_FOUND", "the session's place is not open here; open it again", { id });
  };
  const planOf = async (place: string, plan_id: string): Promise<UndoPlan> => {
    const plan = (await find(place)).plans.get(plan_id);
    if (plan) return plan;
    throw new ToolError("NOT_FOUND", "this plan has expired; plan it again", { id: plan_id });
  };
  /** Reports the epoch once the place is open; closes it when the client leaves. */
  const hold = async (
    id: string,
    open: () => Promise<OpenedPlace>,
    { signal, progress }: Context,
  ): Promise<never> => {
    const opening = open().then(
      (opened): Place => ({
        epoch: randomUUID(),
        turns: new Map(),
        plans: new Map(),
        ...opened,
      }),
    );
    places.set(id, opening);
    const place = await opening.catch((cause: unknown) => {
      places.delete(id);
      throw cause;
    });
    try {
      progress({ progress: 1, message: place.epoch });
      if (!signal.aborted) await once(signal, "abort");
      throw signal.reason;
    } finally {
      if (places.get(id) === opening) places.delete(id);
      for (const turn of place.turns.values()) await turn.end().catch(() => {});
      await place.close();
    }
  };
  return { find, planOf, hold };
}

/** Opens a turn whose beginning can be waited for. */
export async function openTurn(
  { turns }: ToolHost,
  wanted: Pick<NewTurn, "label" | "session_id">,
): Promise<PlaceTurn | undefined> {
  const { promise: begun, resolve } = Promise.withResolvers<number | undefined>();
  const turn = await turns.open({ ...wanted, onBegin: async (id) => resolve(id) });
  return (
    turn && {
      begun,
      async end() {
        await turn.end().finally(() => resolve(undefined));
      },
    }
  );
}
