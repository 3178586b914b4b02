import type { PlannedRun } from "./hub-data.ts";

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const DAYS_SHOWN = 7;

/** Seven days from today on with their runs, in the viewer's time zone. */
export function toWeek(runs: readonly PlannedRun[], now: number) {
  return Array.from({ length: DAYS_SHOWN }, (_, index) => {
    // Days have 23 or 25 hours where the clock changes.
    const start = new Date(now);
    start.setHours(0, 0, 0, 0);
    start.setDate(start.getDate() + index);
    const end = new Date(start);
    end.setDate(end.getDate() + 1);
    return {
      day: index === 0 ? "Today" : `${DAYS[start.getDay()]} ${start.getDate()}`,
      runs: runs
        .map(({ schedule_id, due_at }) => ({ schedule_id, time: Date.parse(due_at) }))
        .filter(({ time }) => time >= start.getTime() && time < end.getTime())
        .sort((a, b) => a.time - b.time)
        .map(({ schedule_id, time }) => ({ schedule_id, at: new Date(time).toTimeString().slice(0, 5) })),
    };
  });
}
