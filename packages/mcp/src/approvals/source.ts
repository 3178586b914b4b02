import type { Topic } from "@octant/core";

export const APPROVAL_CHOICES = ["once", "session", "always", "deny"] as const;
export type ApprovalChoice = (typeof APPROVAL_CHOICES)[number];

/** What is shown of a question as it is; this much of it we look at. */
export interface WaitingApproval {
  readonly approval_id: string;
}

export type ApprovalEvent =
  | { readonly type: "asked"; readonly approval: WaitingApproval }
  | { readonly type: "settled"; readonly approval_id: string };

export interface GivenAnswer {
  readonly answer: ApprovalChoice;
  readonly reason?: string;
  /** The caller who answered. */
  readonly by: string;
}

/** Where calls wait for the approval of a person. */
export interface ApprovalSource {
  list(): readonly WaitingApproval[];
  /** A ToolError when it does not wait any more, or the answer does not fit. */
  answer(approvalId: string, answer: GivenAnswer): void;
  readonly events: Pick<Topic<ApprovalEvent>, "listen">;
  /** Adds a place where people answer; returns a function that removes it. */
  attend(isAttended: () => boolean): () => void;
}
