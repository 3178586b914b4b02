import { newHandle } from "@octant/core";
import type { HubRecord, HubStore, Records } from "../store/hub-store.ts";
import type { LifecycleEvent, LifecycleTopic } from "./lifecycle-events.ts";

/**
 * An event about a record that is stored with the record until webhooks have it, so a killed hub loses both or neither.
 */
export interface KeptEvent {
  readonly event_id: string;
  readonly at_ms: number;
  readonly event: LifecycleEvent;
}

/** A record with its unsent events. */
export interface KeepsEvents extends HubRecord {
  readonly kept_events?: readonly KeptEvent[] | undefined;
}

/** The kinds of records that have an outbox. */
const KEEPING_KINDS = ["project", "session", "schedule_run"] as const;
type KeepingKind = (typeof KEEPING_KINDS)[number];

/** Adds an event to the record's outbox; call `publishNewest` once the record is stored. */
export const keepEvent = <T extends KeepsEvents>(record: T, event: LifecycleEvent, nowMs: number): T => ({
  ...record,
  kept_events: [...(record.kept_events ?? []), { event_id: newHandle("event", nowMs), at_ms: nowMs, event }],
});

/** Publishes the newest event of a stored record. */
export function publishKept(lifecycle: LifecycleTopic, kind: KeepingKind, record: KeepsEvents): void {
  const newest = record.kept_events?.at(-1);
  if (newest)
    lifecycle.publish({ ...newest.event, kept: { kind, id: record.id, event_id: newest.event_id } });
}

/** Removes an event from its outbox: webhooks have stored it. */
export async function forgetKept(
  store: HubStore,
  { kind, id, event_id }: NonNullable<LifecycleEvent["kept"]>,
): Promise<void> {
  await store.records<KeepsEvents>(kind).change(id, ({ kept_events = [], ...record }) => {
    const left = kept_events.filter((one) => one.event_id !== event_id);
    return left.length > 0 ? { ...record, kept_events: left } : record;
  });
}

/** The unsent events of a project that a killed hub left, oldest first. */
export async function leftEvents(
  store: HubStore,
  project_id: string,
): Promise<readonly { readonly at: number; readonly value: LifecycleEvent }[]> {
  const all = await Promise.all(
    KEEPING_KINDS.map(async (kind) =>
      (await recordsOf(store.records<KeepsEvents>(kind), kind, project_id)).flatMap(
        ({ id, kept_events = [] }) =>
          kept_events.map(({ event, at_ms, event_id }) => ({
            at: at_ms,
            value: { ...event, kept: { kind, id, event_id } },
          })),
      ),
    ),
  );
  return all.flat().toSorted((one, other) => one.at - other.at);
}

async function recordsOf(
  records: Records<KeepsEvents>,
  kind: KeepingKind,
  project_id: string,
): Promise<readonly KeepsEvents[]> {
  if (kind !== "project") return records.list({ project_id });
  const project = await records.get(project_id);
  return project ? [project] : [];
}
