import type { Limits } from "@octant/agent";
import { counted, ToolError } from "@octant/core";
import type { Project, ProjectLimits } from "../projects/project.ts";
import type { Records } from "../store/hub-store.ts";
import { type HubSession, toPrice } from "./hub-session.ts";

const MINUTE_MS = 60_000;

/** A tree with a session at work: what each of its sessions has cost so far. */
interface Tree {
  readonly costs: Map<string, number>;
  working: number;
}

export interface Admission {
  /** The session that spawns another one. */
  readonly parent?: HubSession | undefined;
  /** The session that a message wakes; another message may have done so meanwhile. */
  readonly idle_id?: string;
  /** The new session is not at work yet. */
  readonly isIdle?: boolean;
}

export type Budgets = ReturnType<typeof createBudgets>;

/** The limits of a project, which hold for a session together with all sessions of its tree. */
export function createBudgets(records: Records<HubSession>) {
  const trees = new Map<string, Tree>();
  /** The last admission of each project that has one under way. */
  const admissions = new Map<string, Promise<void>>();
  const treeOf = async ({ root_id, project_id }: Pick<HubSession, "root_id" | "project_id">) =>
    (await records.list({ project_id })).filter((session) => session.root_id === root_id);
  /** Its own spending, without that of its tree. */
  const costOf = ({ id, root_id, cost, copied_cost = 0 }: HubSession): number =>
    Math.max(cost - copied_cost, trees.get(root_id)?.costs.get(id) ?? 0);
  const check = async (
    { id, limits }: Project,
    { parent, idle_id, isIdle = false }: Admission,
  ): Promise<void> => {
    const all = await records.list({ project_id: id });
    const active = all.filter((one) => one.state === "working" && one.id !== idle_id);
    if (!isIdle && active.length >= limits.max_sessions)
      throw refuse(
        "max_sessions",
        limits.max_sessions,
        `${counted(limits.max_sessions, "session")} at work at once`,
        "wait for others to end, or ",
      );
    if (!parent) return;
    if (parent.depth >= limits.max_depth)
      throw refuse("max_depth", limits.max_depth, `${counted(limits.max_depth, "generation")} of sessions`);
    const tree = await treeOf(parent);
    if (tree.length >= limits.max_agents)
      throw refuse("max_agents", limits.max_agents, `${counted(limits.max_agents, "session")} in one tree`);
    const cost = tree.reduce((sum, one) => sum + costOf(one), 0);
    if (limits.max_cost !== undefined && cost >= limits.max_cost)
      throw refuse("max_cost", limits.max_cost, `$${limits.max_cost} in one tree`);
  };

  return {
    treeOf,
    costOf,
    /**
     * Runs `store`, which stores a session at work, or throws when the project or the tree allows no further one. One
     * at a time per project: calls that come together would otherwise all see room for one.
     */
    admit<T>(project: Project, given: Admission, store: () => Promise<T>): Promise<T> {
      const work = async () => {
        await check(project, given);
        return store();
      };
      const admitted = (admissions.get(project.id) ?? Promise.resolve()).then(work);
      const settled = admitted.then(
        () => {},
        () => {},
      );
      admissions.set(project.id, settled);
      void settled.then(() => {
        if (admissions.get(project.id) === settled) admissions.delete(project.id);
      });
      return admitted;
    },
    /** The budget of a session while it works. The others of its tree are counted as they spend. */
    async open(session: HubSession, { limits: { max_cost, wall_minutes } }: Project) {
      const { id, root_id, copied_cost = 0 } = session;
      const tree = trees.get(root_id) ?? { costs: new Map<string, number>(), working: 0 };
      trees.set(root_id, tree);
      tree.working += 1;
      for (const one of await treeOf(session)) tree.costs.set(one.id, costOf(one));
      let before = session.cost - copied_cost;
      const sum = () => [...tree.costs.values()].reduce((total, cost) => total + cost, 0);
      return {
        /** That the tree has spent all it may; a run knows only what was left for it. */
        exhausted: (): string | undefined =>
          max_cost !== undefined && sum() >= max_cost
            ? `the limit of $${max_cost} for a session and those that it spawns is reached ($${toPrice(sum())} spent)`
            : undefined,
        /** A run begins; the limit of a run counts from here. */
        begin: (cost: number) => {
          before = cost - copied_cost;
        },
        /** The cost of the session so far. */
        spent: (cost: number) => void tree.costs.set(id, cost - copied_cost),
        /** Read at every step of a run. */
        limits(): Limits {
          const others = [...tree.costs].reduce((sum, [one, cost]) => (one === id ? sum : sum + cost), 0);
          return {
            ...(max_cost !== undefined && { max_cost: Math.max(0, max_cost - before - others) }),
            ...(wall_minutes !== undefined && { max_time_ms: wall_minutes * MINUTE_MS }),
          };
        },
        [Symbol.dispose]() {
          tree.working -= 1;
          if (tree.working === 0) trees.delete(root_id);
        },
      };
    },
  };
}

const refuse = (name: keyof ProjectLimits, limit: number, allowed: string, or = "") =>
  new ToolError(
    "LIMIT_EXCEEDED",
    `the project allows ${allowed}; ${or}raise its limit ${name} with project.update`,
    { limit, what: name },
  );
