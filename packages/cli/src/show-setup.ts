import type { Outcome, Plan } from "@octant/app";
import { toOneLine } from "@octant/core";
import { collectSecrets, createRedactor } from "@octant/runtime";
import type { Io } from "./command.ts";
import { painted, print } from "./output.ts";

const MAX_LINE_CHARS = 300;
const COLOURS = { "+": "green", "-": "red", "@": "dim" } as const;
const DOES = { add: "add octant to", change: "change octant in", remove: "remove octant from" } as const;

/** Shows the planned change. */
export function showPlan(plan: Plan, io: Io): void {
  const title = painted("bold", plan.client.title, io.stdout);
  const say = (text: string) => print([title, `: ${text}`], io);
  const file = toOneLine(plan.file);
  if (plan.does === "nothing") return void say(`nothing to do in ${file}`);
  if (plan.does === "refuse") return void say(`${file} is left alone: ${toOneLine(plan.reason)}`);
  say(`${DOES[plan.does]} ${file}`);
  for (const line of safeDiff(plan.diff, io.env)) {
    // The first character of a diff line is its kind.
    const colour = COLOURS[line.charAt(0) as keyof typeof COLOURS];
    print(["  ", colour ? painted(colour, line, io.stdout) : line], io);
  }
}

/** Reports the outcome without repeating the plan. */
export function showOutcome({ client, file }: Plan, outcome: Outcome, io: Io): void {
  const say = (text: string) => print(`${client.title}: ${text}`, io);
  if (outcome.status === "unchanged") return;
  if ("reason" in outcome) {
    const what = outcome.status === "undone" ? "the change was reverted" : "nothing was written";
    return void say(`${what}: ${toOneLine(outcome.reason)}`);
  }
  const { status, tools, backup } = outcome;
  say(tools ? `${status}, and the server answers with ${tools.length} tools: ${tools.join(", ")}` : status);
  if (backup !== undefined) say(`the previous ${toOneLine(file)} is in ${toOneLine(backup)}`);
  if (status !== "removed" && client.afterwards !== undefined) say(`still to do: ${client.afterwards}`);
}

/** The surrounding lines may contain keys of other servers. */
export function safeDiff(diff: string, env: NodeJS.ProcessEnv): string[] {
  const redact = createRedactor({ secrets: collectSecrets(env) });
  return redact(diff)
    .trimEnd()
    .split("\n")
    .map((line) => toOneLine(line.replace(/\r$/, "")))
    .map((line) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)}…` : line));
}
