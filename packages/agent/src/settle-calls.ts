import { toFailure } from "./run-calls.ts";
import type { Session } from "./session.ts";

/**
 * Ends calls without a result: the process died, or could not store their results. Everything that is said next comes
 * after the results, as providers require.
 */
export async function settleOpenCalls(session: Session): Promise<void> {
  for (const { call, began, asked } of session.conversation.pendingCalls) {
    const message =
      began && asked
        ? `${call.name} was waiting for the person's permission when the agent stopped, and did not run`
        : began
          ? `${call.name} was running when the agent stopped; it may or may not have had its effect, so look before you repeat it`
          : `${call.name} was not started before the agent stopped; call it again if it is still wanted`;
    await session.append({
      type: "tool_ended",
      call_id: call.id,
      name: call.name,
      ...toFailure("INTERRUPTED", message),
      duration_ms: 0,
    });
  }
}
