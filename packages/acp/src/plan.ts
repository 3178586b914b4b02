import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { type Marked, PlanMark } from "@octant/agent";

/** The plan in a mark, for clients that show one; nothing for other marks. */
export function toPlan({ name, data }: Pick<Marked, "name" | "data">): readonly SessionUpdate[] {
  if (name !== "plan") return [];
  const { success, data: plan } = PlanMark.safeParse(data);
  return success ? [{ sessionUpdate: "plan", entries: plan.entries.map(toEntry) }] : [];
}

/** The protocol has no failed or skipped entries; the text says so. */
const toEntry = ({ content, status }: PlanMark["entries"][number]) =>
  status === "failed" || status === "skipped"
    ? ({ content: `${content} (${status})`, status: "completed", priority: "medium" } as const)
    : ({ content, status, priority: "medium" } as const);
