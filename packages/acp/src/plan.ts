import type { SessionUpdate } from "@agentclientprotocol/sdk";
import type { Marked } from "@octant/agent";
import { z } from "zod";

/** How a session's plan is stored in its log, as a mark named `plan`: always the complete list. */
const Plan = z.object({
  entries: z.array(
    z.object({
      content: z.string(),
      status: z.enum(["pending", "in_progress", "completed"]).catch("pending"),
      priority: z.enum(["high", "medium", "low"]).default("medium"),
    }),
  ),
});

/** The plan that a mark holds, for clients that show one; nothing for other marks. */
export function toPlan({ name, data }: Pick<Marked, "name" | "data">): readonly SessionUpdate[] {
  if (name !== "plan") return [];
  const { success, data: plan } = Plan.safeParse(data);
  return success ? [{ sessionUpdate: "plan", entries: plan.entries }] : [];
}
