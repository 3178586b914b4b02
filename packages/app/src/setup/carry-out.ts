import { ToolError } from "@octant/core";
import { ServerProblem, type Try } from "./ask-server.ts";
import { flagsIn } from "./entry.ts";
import { type Install, type Launch, ownLaunch } from "./launch.ts";
import type { Machine } from "./places.ts";
import { type Plan, readEntry } from "./plan.ts";
import { type Replaced, replaceFile } from "./replace-file.ts";

/** The outcome of a plan. */
export type Outcome =
  | {
      readonly status: "added" | "changed" | "removed";
      readonly backup?: string;
      /** The server's tools; absent after a removal. */
      readonly tools?: readonly string[];
    }
  | { readonly status: "unchanged" }
  | { readonly status: "refused" | "undone"; readonly reason: string };

const DONE = { add: "added", change: "changed", remove: "removed" } as const;

/** Writes the file, and restores it when the server does not start from the new content. */
export async function carryOut(
  plan: Plan,
  install: Install,
  machine: Machine,
  tryStart: Try,
): Promise<Outcome> {
  if (plan.does === "nothing") return { status: "unchanged" };
  if (plan.does === "refuse") return { status: "refused", reason: plan.reason };
  try {
    const replaced = replaceFile(plan.file, plan.before, plan.after);
    const { backup } = replaced;
    const done = { status: DONE[plan.does], ...(backup !== undefined && { backup }) };
    if (plan.does === "remove") return done;
    const tried = await verify(plan, replaced, ownLaunch(install, machine), tryStart);
    return "tools" in tried ? { ...done, ...tried } : tried;
  } catch (cause) {
    return { status: "refused", reason: reasonOf(cause) };
  }
}

async function verify(plan: Plan, replaced: Replaced, launch: Launch, tryStart: Try) {
  try {
    const { start } = readEntry(plan);
    if (!start) throw new ServerProblem("the entry was removed again: another program rewrote the file");
    // npx would download the published package; we can test only this install with the same flags.
    const own = plan.scope === "project" && launch;
    const tried = own ? { ...start, ...own, args: [...own.args, ...(flagsIn(start) ?? [])] } : start;
    return { tools: await tryStart(tried, plan) };
  } catch (cause) {
    const isBack = replaced.undo();
    if (!(cause instanceof ServerProblem)) throw cause;
    const left = isBack ? "" : "; another program changed the file meanwhile, so the entry is still there";
    return { status: "undone" as const, reason: `the server does not work: ${cause.message}${left}` };
  }
}

/** A disk error, such as a read-only file, is not a bug. */
function reasonOf(cause: unknown): string {
  const isOfDisk = cause instanceof Error && "syscall" in cause;
  if (isOfDisk || cause instanceof ToolError) return cause.message;
  throw cause;
}
