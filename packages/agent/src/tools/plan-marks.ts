import type { Session } from "../session.ts";
import type { ToolExecutor } from "../tool-executor.ts";

/** A session's plan as front ends show it, in a mark named `plan`: always all of it, after every change. */
export interface PlanMark {
  readonly plan_id: string;
  readonly title: string;
  readonly entries: readonly {
    readonly content: string;
    readonly status: "pending" | "in_progress" | "completed" | "failed" | "skipped";
  }[];
}

/** Notes in the session's log what calls make of its plan, so that every front end sees it as it happens. */
export const markPlans = (tools: ToolExecutor, session: Session): ToolExecutor => ({
  ...tools,
  async execute(call, options) {
    const result = await tools.execute(call, options);
    const plan = result.facts?.plan;
    if (plan) await session.append({ type: "mark", name: "plan", data: plan });
    return result;
  },
});
