import { newHandle, ToolError } from "@octant/core";
import type { AgentEvent, RunEnded, Spent } from "../events.ts";
import type { LimitReached } from "../limits.ts";
import { textOf } from "../messages.ts";
import type { Spending } from "../spending.ts";
import { CREW_LIMITS, type CrewLimits, checkLimits } from "./crew-limits.ts";
import {
  type Member,
  type MemberInfo,
  type MemberPlan,
  type SpawnRequest,
  toReport,
  withReason,
} from "./member.ts";
import type { Role } from "./roles.ts";

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
}

/** The sub-agents of one root. They end with it. */
export interface Crew {
  readonly roles: readonly Role[];
  readonly limits: CrewLimits;
  spawn(request: SpawnRequest, parent: string, signal?: AbortSignal): Promise<MemberInfo>;
  /** Sends a message to a member: delivered at its next step when it is working, otherwise it continues with it. */
  send(agent_id: string, message: string, parent: string): MemberInfo;
  /** Resolves when one, or all, of them have ended, or after `ms`. */
  await(ids: readonly string[], options: AwaitOptions): Promise<readonly MemberInfo[]>;
  terminate(agent_id: string, parent: string): Promise<MemberInfo>;
  list(parent?: string): readonly MemberInfo[];
  /** Says where unmerged work of earlier members is, and how to get it. */
  left(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AwaitOptions {
  readonly parent: string;
  readonly until: "any" | "all";
  readonly ms: number;
  readonly signal: AbortSignal;
}

interface Running {
  readonly plan: MemberPlan;
  readonly member: Member;
  info: MemberInfo;
  ended: Promise<void>;
}

export function createCrew(options: CrewOptions): Crew {
  const limits = { ...CREW_LIMITS, ...options.limits };
  const members = new Map<string, Running>();
  const total = { turns: 0, cost: 0 };
  /** What ended all members. */
  let ended: LimitReached | undefined;
  let isClosed = false;

  const bySession = (session: string) =>
    [...members.values()].find(({ member }) => member.agent.session.id === session);
  const isBelow = ({ plan }: Running, parent: string): boolean => {
    if (plan.parent === parent) return true;
    const above = bySession(plan.parent);
    return above !== undefined && isBelow(above, parent);
  };
  const get = (id: string, parent: string): Running => {
    const found = members.get(id);
    // Another caller's handle is indistinguishable from an unknown one.
    if (found && isBelow(found, parent)) return found;
    throw new ToolError("NOT_FOUND", `there is no sub-agent '${id}'; agent.list shows yours`, {});
  };
  const checkSpawn = (depth: number) => {
    const reached = options.rootLimit?.();
    if (reached) throw new ToolError("LIMIT_EXCEEDED", reached.message, { limit: reached.limit });
    const running = [...members.values()].filter(({ info }) => info.state === "running").length;
    checkLimits(limits, { depth, running, agents: members.size, ...total });
  };
  const limitReached = (): LimitReached | undefined => {
    const name = total.turns >= limits.max_turns ? "max_turns" : "max_cost";
    if (total[name === "max_turns" ? "turns" : "cost"] < limits[name]) return options.rootLimit?.();
    return {
      reason: name,
      message: `${name} of all sub-agents is reached (${limits[name]})`,
      limit: limits[name],
    };
  };
  /** What one member spends counts for all of them, for its parent, and for those above. */
  const count = async ({ plan }: Running, { by, ...spent }: Omit<Spent, "type">): Promise<void> => {
    // The spending of its own members was already counted.
    if (!members.has(by)) {
      total.turns += spent.turns;
      total.cost += spent.cost ?? 0;
    }
    await options.spend?.(plan.parent, { by: plan.agent_id, ...spent });
    const reached = limitReached();
    if (!reached) return;
    ended = reached;
    for (const one of members.values()) void one.member.agent.cancel();
  };
  const follow = (running: Running) =>
    running.member.agent.subscribe((event) => {
      const spent = spentIn(event);
      if (!spent) return;
      const text = event.type === "message" ? textOf(event.message.content) : "";
      const { turns, cost } = running.member.agent.session.conversation;
      running.info = { ...running.info, turns, cost, ...(text !== "" && toReport(text)) };
      // A log that cannot be written ends the run of its own agent.
      count(running, spent).catch(() => {});
    });
  const terminateBelow = async (session: string) => {
    for (const one of members.values()) if (one.plan.parent === session) await terminate(one);
  };
  const terminate = async (running: Running): Promise<void> => {
    if (running.info.state === "running") running.info = { ...running.info, state: "terminated" };
    await running.member.agent.cancel();
    await running.ended;
  };
  /** One run of a member, from its message to its end. */
  const work = (running: Running, start: () => Promise<RunEnded>): Promise<void> => {
    running.info = { ...running.info, state: "running" };
    const run = async () => {
      let end: RunEnded | undefined;
      try {
        end = await start();
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : String(cause);
        running.info = { ...running.info, report: message };
      }
      await terminateBelow(running.member.agent.session.id);
      const isDone = end?.reason === "done";
      const isTerminated = running.info.state === "terminated";
      const worktree = await running.member.finish?.(isDone && !isTerminated);
      const ending = end?.reason === "cancelled" && ended && !isTerminated ? ended : end;
      running.info = {
        ...running.info,
        reason: ending?.reason ?? "failed",
        ...(!isTerminated && { state: isDone ? "done" : "failed" }),
        ...(!isDone && !isTerminated && withReason(running.info, ending?.message)),
        ...(worktree && { worktree }),
      };
    };
    return run();
  };

  return {
    limits,
    get roles() {
      return options.roles();
    },
    async spawn(request, parent, signal) {
      if (isClosed) throw new ToolError("CANCELLED", "the agent has ended", {});
      const of = options.roles().find(({ name }) => name === request.role);
      if (!of) {
        const names = options.roles().map(({ name }) => name);
        throw new ToolError(
          "NOT_FOUND",
          `there is no role '${request.role}'; roles: ${names.join(", ")}`,
          {},
        );
      }
      const above = bySession(parent);
      const depth = (above?.info.depth ?? 0) + 1;
      checkSpawn(depth);
      ended = undefined;
      const agent_id = newHandle("agent", Date.now());
      const plan: MemberPlan = {
        ...request,
        agent_id,
        of,
        parent,
        above: above ? [above.plan, ...above.plan.above] : [],
      };
      const member = await options.create(plan);
      const running: Running = {
        plan,
        member,
        ended: Promise.resolve(),
        info: {
          agent_id,
          role: of.name,
          task: request.task,
          state: "running",
          depth,
          session_id: member.agent.session.id,
          turns: 0,
          cost: 0,
          reason: null,
          report: "",
        },
      };
      members.set(agent_id, running);
      follow(running);
      running.ended = work(running, () =>
        member.agent.send(request.task, { limits: { max_turns: of.max_turns } }),
      );
      signal?.addEventListener("abort", () => void terminate(running), { once: true });
      return running.info;
    },
    send(agent_id, message, parent) {
      const running = get(agent_id, parent);
      if (running.info.state === "running") running.member.agent.queue(message);
      else
        running.ended = work(running, () =>
          running.member.agent.send(message, { limits: { max_turns: running.plan.of.max_turns } }),
        );
      return running.info;
    },
    async await(ids, { parent, until, ms, signal }) {
      const chosen = ids.map((id) => get(id, parent));
      const ends = chosen.map(({ ended }) => ended);
      const timeout = AbortSignal.any([signal, AbortSignal.timeout(Math.max(1, ms))]);
      const aborted = new Promise<void>((resolve) => {
        if (timeout.aborted) resolve();
        timeout.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([until === "any" ? Promise.race(ends) : Promise.all(ends), aborted]);
      signal.throwIfAborted();
      return chosen.map(({ info }) => info);
    },
    async terminate(agent_id, parent) {
      const running = get(agent_id, parent);
      await terminate(running);
      return running.info;
    },
    list: (parent) =>
      [...members.values()]
        .filter((one) => parent === undefined || isBelow(one, parent))
        .map(({ info }) => info),
    left: async () => (await options.left?.()) ?? [],
    async close() {
      isClosed = true;
      for (const running of members.values()) await terminate(running);
      // A worktree of a worktree is removed first.
      for (const { member } of [...members.values()].reverse()) await member.close();
    },
  };
}

function spentIn(event: AgentEvent): Omit<Spent, "type"> | undefined {
  if (event.type !== "message" && event.type !== "compaction" && event.type !== "spent") return undefined;
  const { usage, cost } = event;
  if (event.type === "spent") return { by: event.by, turns: event.turns, usage, cost };
  return { by: "", turns: event.type === "message" ? 1 : 0, usage, cost };
}
