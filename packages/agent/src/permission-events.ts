import { randomUUID } from "node:crypto";
import type { PermissionPrompter, PermissionRequest } from "@octant/runtime";
import type { PermissionAnswered } from "./events.ts";
import type { Session } from "./session.ts";

/** The prompter of one call: records its questions and answers in the session's events. */
export function recordPermissions(
  prompter: PermissionPrompter,
  session: Session,
  call_id: string,
): PermissionPrompter {
  return {
    async requestPermission(request) {
      const permission_id = `perm_${randomUUID()}`;
      await session.append({ type: "permission_asked", permission_id, call_id, ...describe(request) });
      const answered = (answer: PermissionAnswered["answer"], reason?: string) =>
        session.append({
          type: "permission_answered",
          permission_id,
          call_id,
          answer,
          ...(reason !== undefined && { reason }),
        });
      try {
        const answer = await prompter.requestPermission(request);
        await answered(answer.answer, "reason" in answer ? answer.reason : undefined);
        return answer;
      } catch (cause) {
        await answered("cancelled");
        throw cause;
      }
    },
  };
}

const describe = ({ name, input, decision, preview, always }: PermissionRequest) => ({
  action: name,
  input,
  reason: decision.reason,
  ...(preview !== undefined && { preview }),
  ...(always && { always }),
});
