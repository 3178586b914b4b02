import { hash } from "node:crypto";
import { counted, invalidArgument } from "@octant/core";
import { Cron } from "croner";

export interface CronPlan {
  /** The first time after this one, in milliseconds; undefined when there is none. */
  next(afterMs: number): number | undefined;
}

const FIELDS: readonly number[] = [5, 6];

/** Five fields, or six with seconds first. Throws INVALID_ARGUMENT for an expression that never runs. */
export function parseCron(cron: string, timeZone: string): CronPlan {
  if (!isTimeZone(timeZone))
    throw invalidArgument("time_zone", `'${timeZone}' is not a time zone; use a name such as Europe/Berlin`);
  const fields = cron.trim().split(/\s+/).filter(Boolean).length;
  if (!FIELDS.includes(fields) && !cron.startsWith("@"))
    throw invalidArgument(
      "cron",
      `'${cron}' is not a cron expression: it has ${counted(fields, "field")}; give five, or six with seconds first, such as 30 2 * * 1-5`,
    );
  const parsed = parse(cron, timeZone);
  const plan: CronPlan = { next: (afterMs) => parsed.nextRun(new Date(afterMs))?.getTime() };
  if (plan.next(Date.now()) === undefined)
    throw invalidArgument("cron", `'${cron}' never runs: no such date exists`);
  return plan;
}

function parse(cron: string, timezone: string): Cron {
  try {
    return new Cron(cron, { timezone, mode: "5-or-6-parts", paused: true });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, "") : String(cause);
    throw invalidArgument("cron", `'${cron}' is not a cron expression: ${why}`);
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const HEX_DIGITS = 8;

/** A delay of 0 to `jitterMs` that is the same whenever it is asked for, so that a restart does not move a run. */
export function jitterOf(schedule_id: string, dueMs: number, jitterMs: number): number {
  const part = hash("sha256", `${schedule_id} ${dueMs}`, "hex").slice(0, HEX_DIGITS);
  return Math.floor((Number.parseInt(part, 16) / 16 ** HEX_DIGITS) * (jitterMs + 1));
}
