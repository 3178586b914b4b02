import { expect, test } from "vitest";
import { toWeek } from "./week.ts";

const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 30).toISOString();

test("seven days begin today, each with its runs in order, at the time of the person", () => {
  const now = new Date(2026, 10, 18, 12).getTime();
  const week = toWeek(
    [
      { schedule_id: "late", due_at: at(19, 23) },
      { schedule_id: "early", due_at: at(19, 0) },
      { schedule_id: "today", due_at: at(18, 13) },
      { schedule_id: "beyond", due_at: at(25, 0) },
    ],
    now,
  );
  expect(week.map(({ day }) => day)).toEqual([
    "Today",
    "Thu 19",
    "Fri 20",
    "Sat 21",
    "Sun 22",
    "Mon 23",
    "Tue 24",
  ]);
  expect(week[0]?.runs).toEqual([{ schedule_id: "today", at: "13:30" }]);
  expect(week[1]?.runs).toEqual([
    { schedule_id: "early", at: "00:30" },
    { schedule_id: "late", at: "23:30" },
  ]);
  expect(week.slice(2).flatMap(({ runs }) => runs)).toEqual([]);
});
