import { newHandle, sessionOf, ToolError } from "@octant/core";
import type { Content } from "../agent.ts";
import type { AgentEvent, Spent } from "../events.ts";
import type { LimitReached } from "../limits.ts";
import { textOf, textParts } from "../messages.ts";
import type { Spending } from "../spending.ts";
import { CREW_LIMITS, type CrewLimits, checkLimits } from "./crew-limits.ts";
import { type Member, type MemberInfo, type MemberPlan, type SpawnRequest, toReport } from "./member.ts";
import { findRole, type Role } from "./roles.ts";

export interface CrewOptions {
  readonly roles: () => readonly Role[];
  create(plan: MemberPlan): Promise<Member>;
  readonly limits?: Partial<CrewLimits>;
  /** Says where unmerged work of earlier members is, and how to get it. */
  left?(): Promise<readonly string[]>;
  /** Counts what a member spends for its parent too. */
  readonly spend?: Spending["spend"];
  /** The limit that the root's own run has reached; it ends the members too. */
  readonly rootLimit?: () => LimitReached | undefined;
  /** After the members have been closed. */
  close?(): Promise<void>;
}

export interface AwaitOptions {
  readonly parent: string;
  readonly until: "any" | "all";
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** Receives the events of a member. */
export type MemberListener = (member: MemberInfo, event: AgentEvent) => void;

interface Running {
  readonly plan: MemberPlan;
  readonly member: Member;
  info: MemberInfo;
  ended: Promise<void>;
}

/** The sub-agents of one root. They end with it. */
export class Crew {
  readonly limits: CrewLimits;
  readonly #options: CrewOptions;
  readonly #members = new Map<string, Running>();
  readonly #listeners = new Set<MemberListener>();
  readonly #total = { turns: 0, cost: 0 };
  /** The limit that ended all members. */
  #ended: LimitReached | undefined;
  #isClosed = false;

  constructor(options: CrewOptions) {
    this.#options = options;
    this.limits = { ...CREW_LIMITS, ...options.limits };
  }

  get roles(): readonly Role[] {
    return this.#options.roles();
  }

  /** The listener receives the events of all members. */
  subscribe(listener: MemberListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** `context` follows the task in its first message. */
  async spawn(
    request: SpawnRequest,
    parent: string,
    signal?: AbortSignal,
    context = "",
  ): Promise<MemberInfo> {
    if (this.#isClosed) throw new ToolError("CANCELLED", "the agent has ended", {});
    const { task } = request;
    const of = findRole(this.roles, request.role);
    const role = of.name;
    const above = this.#byCaller(parent);
    const depth = (above?.info.depth ?? 0) + 1;
    this.#checkSpawn(depth);
    this.#ended = undefined;
    const agent_id = newHandle("agent", Date.now());
    const plan = { ...request, agent_id, of, parent, above: above ? [above.plan, ...above.plan.above] : [] };
    const member = await this.#options.create(plan);
    const session_id = member.agent.session.id;
    const begun = { turns: 0, cost: 0, reason: null, report: "" };
    const running: Running = {
      plan,
      member,
      ended: Promise.resolve(),
      info: { agent_id, role, task, state: "running", depth, session_id, ...begun },
    };
    this.#members.set(agent_id, running);
    member.agent.subscribe((event) => this.#follow(running, event));
    running.ended = this.#work(
      running,
      // A part of its own, so that the task alone can be shown.
      context === "" ? task : [...textParts(task), ...textParts(`\n\n${context}`)],
    );
    signal?.addEventListener("abort", () => void this.#terminate(running), { once: true });
    return running.info;
  }

  /** Sends a message to a member: delivered at its next step when it is working, otherwise it continues with it. */
  send(agent_id: string, message: string, parent: string): MemberInfo {
    const running = this.#get(agent_id, parent);
    if (running.info.state === "running") running.member.agent.queue(message);
    else running.ended = this.#work(running, message);
    return running.info;
  }

  /** Resolves when one, or all, of them have ended, or after `ms`. */
  async await(
    ids: readonly string[],
    { parent, until, ms, signal }: AwaitOptions,
  ): Promise<readonly MemberInfo[]> {
    const chosen = ids.map((id) => this.#get(id, parent));
    const ends = chosen.map(({ ended }) => ended);
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, ms))]);
    const aborted = new Promise<void>((resolve) => {
      if (timeout.aborted) resolve();
      timeout.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([until === "any" ? Promise.race(ends) : Promise.all(ends), aborted]);
    signal.throwIfAborted();
    return chosen.map(({ info }) => info);
  }

  async terminate(agent_id: string, parent: string): Promise<MemberInfo> {
    const running = this.#get(agent_id, parent);
    await this.#terminate(running);
    return running.info;
  }

  list(parent?: string): readonly MemberInfo[] {
    return [...this.#members.values()]
      .filter((one) => parent === undefined || this.#isBelow(one, parent))
      .map(({ info }) => info);
  }

  /** Says where unmerged work of earlier members is, and how to get it. */
  async left(): Promise<readonly string[]> {
    return (await this.#options.left?.()) ?? [];
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const running of this.#members.values()) await this.#terminate(running);
    // A worktree of a worktree is removed first.
    for (const { member } of [...this.#members.values()].reverse()) await member.close();
    await this.#options.close?.();
  }

  /** The member that is this caller. */
  #byCaller(caller: string): Running | undefined {
    return this.#members.values().find(({ member }) => member.agent.session.id === sessionOf(caller));
  }

  #isBelow({ plan }: Running, parent: string): boolean {
    if (plan.parent === parent) return true;
    const above = this.#byCaller(plan.parent);
    return above !== undefined && this.#isBelow(above, parent);
  }

  #get(id: string, parent: string): Running {
    const found = this.#members.get(id);
    // Another caller's handle is indistinguishable from an unknown one.
    if (found && this.#isBelow(found, parent)) return found;
    throw new ToolError("NOT_FOUND", `there is no sub-agent '${id}'; agent.list shows yours`, {});
  }

  #checkSpawn(depth: number): void {
    const reached = this.#options.rootLimit?.();
    if (reached) throw new ToolError("LIMIT_EXCEEDED", reached.message, { limit: reached.limit });
    const running = [...this.#members.values()].filter(({ info }) => info.state === "running").length;
    checkLimits(this.limits, { depth, running, agents: this.#members.size, ...this.#total });
  }

  #limitReached(): LimitReached | undefined {
    const { max_turns, max_cost } = this.limits;
    const reason = this.#total.turns >= max_turns ? "max_turns" : "max_cost";
    if (reason === "max_cost" && this.#total.cost < max_cost) return this.#options.rootLimit?.();
    const limit = this.limits[reason];
    return { reason, message: `${reason} of all sub-agents is reached (${limit})`, limit };
  }

  #follow(running: Running, event: AgentEvent): void {
    for (const listener of this.#listeners) listener(running.info, event);
    const spent = spentIn(event);
    if (!spent) return;
    const text = event.type === "message" ? textOf(event.message.content) : "";
    const { turns, cost } = running.member.agent.session.conversation;
    running.info = { ...running.info, turns, cost, ...(text !== "" && toReport(text)) };
    // A log that cannot be written ends the run of its own agent.
    this.#count(running, spent).catch(() => {});
  }

  /** The spending of a member counts for all members, for its parent, and for the agents above. */
  async #count({ plan }: Running, { by, ...spent }: Omit<Spent, "type">): Promise<void> {
    // The spending of its own members was already counted.
    if (!this.#members.has(by)) {
      this.#total.turns += spent.turns;
      this.#total.cost += spent.cost ?? 0;
    }
    await this.#options.spend?.(plan.parent, { by: plan.agent_id, ...spent });
    const reached = this.#limitReached();
    if (!reached) return;
    this.#ended = reached;
    for (const one of this.#members.values()) void one.member.agent.cancel();
  }

  async #terminate(running: Running): Promise<void> {
    if (running.info.state === "running") running.info = { ...running.info, state: "terminated" };
    await running.member.agent.cancel();
    await running.ended;
  }

  /** One run of a member, from its message to its end. */
  async #work(running: Running, message: Content): Promise<void> {
    const { plan, member } = running;
    running.info = { ...running.info, state: "running" };
    const end = await member.agent
      .send(message, { limits: { max_turns: plan.of.max_turns } })
      .catch((cause) => {
        running.info = { ...running.info, report: cause instanceof Error ? cause.message : String(cause) };
      });
    for (const one of this.#members.values())
      if (sessionOf(one.plan.parent) === member.agent.session.id) await this.#terminate(one);
    const isDone = end?.reason === "done";
    const isTerminated = running.info.state === "terminated";
    const worktree = await member.finish?.(isDone && !isTerminated);
    const ending = end?.reason === "cancelled" && this.#ended && !isTerminated ? this.#ended : end;
    const { report } = running.info;
    running.info = {
      ...running.info,
      reason: ending?.reason ?? "failed",
      ...(!isTerminated && { state: isDone ? "done" : "failed" }),
      // Its last message, and why it could not continue.
      ...(!isDone && !isTerminated && { report: [report, ending?.message].filter(Boolean).join("\n\n") }),
      ...(worktree && { worktree }),
    };
  }
}

function spentIn(event: AgentEvent): Omit<Spent, "type"> | undefined {
  if (event.type !== "message" && event.type !== "compaction" && event.type !== "spent") return undefined;
  const { usage, cost } = event;
  if (event.type === "spent") return { by: event.by, turns: event.turns, usage, cost };
  return { by: "", turns: event.type === "message" ? 1 : 0, usage, cost };
}
