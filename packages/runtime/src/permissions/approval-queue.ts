import { randomUUID } from "node:crypto";
import { ToolError } from "@octant/core";
import { describeRequest } from "./describe-request.ts";
import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "./prompter.ts";
import type { PermissionRule } from "./rule.ts";

const DEFAULT_TIMEOUT_MS = 5 * 60_000;
const DEFAULT_MAX_PENDING = 100;

/** A question that waits for its answer, as a console shows it. */
export interface PendingApproval {
  readonly approval_id: string;
  /** The caller whose call waits; only it, or whoever may see everything, answers. */
  readonly owner: string;
  readonly name: string;
  /** What a person has to know, with control characters made visible. */
  readonly text: string;
  readonly always: PermissionRule | null;
  readonly asked_at: string;
  readonly expires_at: string;
}

export type ApprovalEvent =
  | { readonly type: "asked"; readonly approval: PendingApproval }
  | { readonly type: "settled"; readonly approval_id: string; readonly owner: string };

export type ApprovalAnswer = Exclude<PermissionAnswer, { answer: "unattended" }>;

export interface ApprovalQueue extends PermissionPrompter {
  /** Of one owner, or of all; oldest first. */
  list(owner?: string): readonly PendingApproval[];
  /** NOT_FOUND when it is not there, not there any more, or another owner's. */
  answer(approvalId: string, answer: ApprovalAnswer, owner?: string): void;
  /** Tells of what is asked and settled from now on; returns how to stop. Only while somebody listens is anybody there. */
  subscribe(listener: (event: ApprovalEvent) => void): () => void;
  /** Whoever waits is told that nobody is there. */
  close(): void;
}

export interface ApprovalQueueOptions {
  readonly timeoutMs?: number;
  readonly maxPending?: number;
}

/** Approvals that are given elsewhere, such as on a web page. */
export function createApprovalQueue(options: ApprovalQueueOptions = {}): ApprovalQueue {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxPending = DEFAULT_MAX_PENDING } = options;
  const pending = new Map<string, Waiting>();
  const listeners = new Set<(event: ApprovalEvent) => void>();
  const tell = (event: ApprovalEvent) => listeners.forEach((listener) => void listener(event));

  const wait = (request: PermissionRequest): Promise<PermissionAnswer> => {
    const approval = toApproval(request, timeoutMs);
    const { approval_id, owner } = approval;
    const { promise, resolve, reject } = Promise.withResolvers<PermissionAnswer>();
    const timer = setTimeout(() => resolve({ answer: "unattended" }), timeoutMs);
    const stop = () => reject(request.signal.reason);
    request.signal.addEventListener("abort", stop, { once: true });
    pending.set(approval_id, { approval, resolve });
    tell({ type: "asked", approval });
    return promise.finally(() => {
      clearTimeout(timer);
      request.signal.removeEventListener("abort", stop);
      pending.delete(approval_id);
      tell({ type: "settled", approval_id, owner });
    });
  };

  return {
    async requestPermission(request) {
      request.signal.throwIfAborted();
      if (listeners.size === 0 || pending.size >= maxPending) return { answer: "unattended" };
      return wait(request);
    },
    list: (owner) =>
      [...pending.values()]
        .map(({ approval }) => approval)
        .filter((approval) => owner === undefined || approval.owner === owner),
    answer(approvalId, answer, owner) {
      const waiting = pending.get(approvalId);
      if (!waiting || (owner !== undefined && waiting.approval.owner !== owner)) throw notWaiting(approvalId);
      if (answer.answer === "always" && !waiting.approval.always) throw notOffered();
      // Gone at once, so that a second answer is told so.
      pending.delete(approvalId);
      waiting.resolve(answer);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      for (const { resolve } of pending.values()) resolve({ answer: "unattended" });
      pending.clear();
      listeners.clear();
    },
  };
}

interface Waiting {
  readonly approval: PendingApproval;
  resolve(answer: PermissionAnswer): void;
}

function toApproval(request: PermissionRequest, timeoutMs: number): PendingApproval {
  const now = Date.now();
  return {
    approval_id: `approval_${randomUUID()}`,
    owner: request.caller.id,
    name: request.name,
    text: describeRequest(request).join("\n"),
    always: request.always ?? null,
    asked_at: new Date(now).toISOString(),
    expires_at: new Date(now + timeoutMs).toISOString(),
  };
}

const notWaiting = (id: string) =>
  new ToolError(
    "NOT_FOUND",
    "no such approval is waiting; it was answered, ran out, or its call was cancelled",
    {
      id,
    },
  );

function notOffered(): ToolError {
  const message = "'always' is not offered here: such a rule could not take effect";
  return new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "answer", message }] });
}
