import { randomUUID } from "node:crypto";
import { createTopic, invalidArgument, ToolError } from "@octant/core";
import { describeRequest } from "./describe-request.ts";
import type { PermissionAnswer, PermissionRequest } from "./prompter.ts";

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
const MAX_WAITING = 100;
/** One caller must not crowd out the others. */
const MAX_WAITING_OF_ONE = 20;
const LOOK_EVERY_MS = 2_000;
/** Waiting is not progress: all of it counts less than the first step of the work. */
const PROGRESS_OF_WAITING = 0.001;

export const APPROVAL_CHOICES = ["once", "session", "always", "deny"] as const;
export type ApprovalChoice = (typeof APPROVAL_CHOICES)[number];

/** A question that waits for its answer, as a console shows it. */
export type PendingApproval = Readonly<ReturnType<typeof toApproval>>;

export type ApprovalEvent =
  | { readonly type: "asked"; readonly approval: PendingApproval }
  | { readonly type: "settled"; readonly approval_id: string };

export interface ApprovalAnswer {
  readonly answer: ApprovalChoice;
  /** Of a deny. */
  readonly reason?: string;
  /** Who answered. */
  readonly by: string;
}

export type ApprovalQueue = ReturnType<typeof createApprovalQueue>;

/** Approvals given outside the calling client, such as on a web page. */
export function createApprovalQueue(timeoutMs = DEFAULT_TIMEOUT_MS) {
  const waiting = new Map<string, Waiting>();
  const places = new Set<() => boolean>();
  const events = createTopic<ApprovalEvent>({ now: Date.now });

  const wait = async (request: PermissionRequest): Promise<PermissionAnswer> => {
    const approval = toApproval(request, timeoutMs);
    const { approval_id } = approval;
    const { promise, resolve, reject } = Promise.withResolvers<PermissionAnswer>();
    const stop = () => reject(request.signal.reason);
    const since = performance.now();
    const look = () => {
      if (request.isCovered()) return resolve({ answer: "once" });
      const progress = (PROGRESS_OF_WAITING * (performance.now() - since)) / timeoutMs;
      request.progress({ progress, message: `waits for an approval until ${approval.expires_at}` });
    };
    const looking = setInterval(look, LOOK_EVERY_MS);
    const timer = setTimeout(() => resolve(nobodyAnswered(timeoutMs)), timeoutMs);
    request.signal.addEventListener("abort", stop, { once: true });
    waiting.set(approval_id, { approval, resolve });
    events.publish({ type: "asked", approval });
    look();
    try {
      return await promise;
    } finally {
      clearInterval(looking);
      clearTimeout(timer);
      request.signal.removeEventListener("abort", stop);
      waiting.delete(approval_id);
      events.publish({ type: "settled", approval_id });
    }
  };
  const countOf = (caller: string) =>
    waiting.values().reduce((sum, { approval }) => sum + Number(approval.caller === caller), 0);

  return {
    async requestPermission(request: PermissionRequest): Promise<PermissionAnswer> {
      request.signal.throwIfAborted();
      if (!places.values().some((isAttended) => isAttended())) return { answer: "unattended" };
      const isFull = waiting.size >= MAX_WAITING || countOf(request.caller.id) >= MAX_WAITING_OF_ONE;
      return isFull ? TOO_MANY : wait(request);
    },
    /** Oldest first. */
    list: (): readonly PendingApproval[] => [...waiting.values()].map(({ approval }) => approval),
    /** NOT_FOUND when it does not wait any more; INVALID_ARGUMENT when the answer was not offered. */
    answer(approvalId: string, { answer, reason, by }: ApprovalAnswer): void {
      const found = waiting.get(approvalId);
      if (!found) throw notWaiting(approvalId);
      if (!found.approval.choices.includes(answer))
        throw invalidArgument("answer", "'always' is not offered here: such a rule could not take effect");
      // Removed at once, so that a second answer is rejected.
      waiting.delete(approvalId);
      found.resolve(answer === "deny" ? { answer, reason, by } : { answer, by });
    },
    events,
    /**
     * Adds a place where people answer; `isAttended` returns whether someone can answer there now. Without such a place
     * nothing waits: removing the last one settles all pending approvals as unattended.
     */
    attend(isAttended: () => boolean): () => void {
      // A new function, so that each call adds a distinct place.
      const place = () => isAttended();
      places.add(place);
      return () => {
        places.delete(place);
        if (places.size === 0) for (const { resolve } of waiting.values()) resolve({ answer: "unattended" });
      };
    },
  };
}

interface Waiting {
  readonly approval: PendingApproval;
  resolve(answer: PermissionAnswer): void;
}

function toApproval(request: PermissionRequest, timeoutMs: number) {
  const now = Date.now();
  const choices = APPROVAL_CHOICES.filter((choice) => choice !== "always" || request.always);
  return {
    approval_id: `approval_${randomUUID()}`,
    /** Such as fs.write. */
    action: request.name,
    /** Whose call waits. */
    caller: request.caller.id,
    /** The request as shown to a person, with control characters made visible. */
    text: describeRequest(request).join("\n"),
    choices,
    /** The rule that "always" would write. */
    always: request.always ?? null,
    asked_at: new Date(now).toISOString(),
    expires_at: new Date(now + timeoutMs).toISOString(),
  };
}

const nobodyAnswered = (timeoutMs: number): PermissionAnswer => ({
  answer: "unattended",
  reason: `no answer within ${timeoutMs / 1_000} s; call again when a person can answer`,
});

const TOO_MANY: PermissionAnswer = {
  answer: "unattended",
  reason: "too many calls wait for an answer already, so call again when some are answered",
};

function notWaiting(id: string): ToolError {
  const message = "no such approval is waiting; it was answered, ran out, or its call was cancelled";
  return new ToolError("NOT_FOUND", message, { id });
}
