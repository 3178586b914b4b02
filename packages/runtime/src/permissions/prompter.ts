import type { Caller, Context } from "@octant/core";
import type { Decision } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";

export interface PermissionRequest {
  /** `fs.write` or `mcp__server__tool`. */
  readonly name: string;
  /** What the action does, in its own words. */
  readonly summary: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What would change, such as a diff. */
  readonly preview?: string | undefined;
  /** Why the person is asked. */
  readonly decision: Decision;
  readonly caller: Caller;
  /** Reaches the person through the client that called. */
  readonly ask: Context["ask"];
  readonly signal: AbortSignal;
  /** Whether an answer that was given meanwhile, to another question, covers this one too. */
  isCovered(): boolean;
  /** The rule that "always" would write. Without it that answer is not offered: it could not take effect. */
  readonly always?: PermissionRule | undefined;
}

export type PermissionAnswer =
  | { readonly answer: "once" | "session" | "always" }
  | { readonly answer: "deny"; readonly reason?: string | undefined }
  /** Nobody is there to be asked. */
  | { readonly answer: "unattended" };

export interface PermissionPrompter {
  requestPermission(request: PermissionRequest): Promise<PermissionAnswer>;
}

/** For runs that nobody watches: what needs an approval is refused. */
export const unattended: PermissionPrompter = {
  requestPermission: async () => ({ answer: "unattended" }),
};

/** Asks one after the other until somebody is there. */
export const askInOrder = (prompters: readonly PermissionPrompter[]): PermissionPrompter => ({
  async requestPermission(request) {
    for (const prompter of prompters) {
      const answer = await prompter.requestPermission(request);
      if (answer.answer !== "unattended") return answer;
    }
    return { answer: "unattended" };
  },
});
