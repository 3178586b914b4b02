import { z } from "zod";
import type { Session } from "../session.ts";
import type { CallStep } from "../tool-executor.ts";

export const PlanStatus = z.enum(["pending", "in_progress", "completed", "failed", "skipped"]);

/** A session's plan for front ends, in a mark named `plan`: always the whole plan, after every change. */
export const PlanMark = z.object({
  plan_id: z.string(),
  title: z.string(),
  entries: z.array(z.object({ content: z.string(), status: PlanStatus })),
});
export type PlanMark = z.output<typeof PlanMark>;

/** Records plan changes in the session's log, so that every front end sees them live. */
export const markPlans =
  (session: Session): CallStep =>
  async (call, _outline, next) => {
    const result = await next(call);
    const plan = result.facts?.plan;
    if (plan) await session.append({ type: "mark", name: "plan", data: plan });
    return result;
  };
