const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** The next seven days with the runs that the schedules name. */
export function toWeek(schedules: readonly Readonly<Record<string, unknown>>[], now: number) {
  const runs = schedules.flatMap((schedule) => {
    const next =
      schedule["next_runs"] ?? schedule["next_run_at"] ?? schedule["next_at"] ?? schedule["next_run"];
    const times = Array.isArray(next) ? next : [next];
    return times
      .map((time) => Date.parse(String(time)))
      .filter((time) => !Number.isNaN(time))
      .map((time) => ({ time, name: String(schedule["name"] ?? schedule["schedule_id"] ?? "schedule") }));
  });
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  return Array.from({ length: 7 }, (_, index) => {
    const start = midnight + index * DAY_MS;
    const date = new Date(start);
    return {
      day: index === 0 ? "Today" : `${DAYS[date.getDay()]} ${date.getDate()}`,
      runs: runs
        .filter(({ time }) => time >= start && time < start + DAY_MS)
        .sort((a, b) => a.time - b.time)
        .map(({ time, name }) => ({ at: new Date(time).toTimeString().slice(0, 5), name })),
    };
  });
}
