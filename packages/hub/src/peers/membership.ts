import type { Clock } from "@octant/core";
import { ToolError } from "@octant/core";
import type { Project } from "../projects/project.ts";
import type { HubStore } from "../store/hub-store.ts";
import { createLife } from "./life.ts";
import { canReach, HOSTED_PLACE, type HubAbout, type Peers } from "./peers.ts";
import type { createProcessLocks } from "./process-lock.ts";

/** The projects that this hub works on. */
export interface Membership {
  /**
   * Claims a new project before others see it. Returns the folder of this hub, by which the hubs of a database know
   * where a project is; undefined for a hub alone.
   */
  claimNew(project_id: string): Promise<string | undefined>;
  /** Claims the projects that no other hub has, and follows the ownership of the others. */
  start(): Promise<void>;
  /** And its repository is here; according to this hub: the database refuses writes where it is wrong. */
  owns(project_id: string): boolean;
  /** The hub that has the project; undefined when it is this one. */
  ownerOf(project_id: string): Promise<HubAbout | undefined>;
  /** Whether no other hub can have taken over the projects of this one. */
  isSure(): boolean;
  /** Whether a hub that is not among the living ones must be gone. */
  canJudge(): boolean;
  /** Why it takes no work any more. */
  readonly problem: string | undefined;
  /** Gives up all projects. */
  close(): Promise<void>;
}

export interface Turns {
  /** Prepares the work on the project. While it fails, the hub retries, and calls fail with the reason. */
  reach?(project: Project): Promise<void>;
  /** The project is now this hub's: continues its sessions and schedules. */
  onGained(project: Project): Promise<void>;
  /** Another hub has the project: stops its work and stores nothing more. */
  onLost(project_id: string): Promise<void>;
}

export interface MembershipOptions extends Turns {
  readonly store: HubStore;
  readonly peers: Peers;
  readonly about: HubAbout;
  readonly locks: ReturnType<typeof createProcessLocks>;
  readonly clock: Clock;
  /** How long the others wait for a hub that does not report. */
  readonly lifeMs: number;
  log(line: string): void;
}

const SWEEP_MS = 1_000;

/** A hub that shares its state with no other. */
export const createSoleMembership = (store: HubStore, { onGained }: Pick<Turns, "onGained">): Membership => ({
  claimNew: async () => undefined,
  problem: undefined,
  async start() {
    for (const project of await store.records<Project>("project").list()) await onGained(project);
  },
  owns: () => true,
  ownerOf: async () => undefined,
  isSure: () => true,
  canJudge: () => true,
  close: async () => {},
});

export function createMembership(options: MembershipOptions): Membership {
  const { store, peers, about, locks, clock, lifeMs, log } = options;
  const projects = store.records<Project>("project");
  /** The projects of this hub; `gained` settles when its work continues. */
  const held = new Map<string, { gained: Promise<void>; isReached: boolean }>();
  /** Those that could not be reached, with the reason that was logged. */
  const unreached = new Map<string, string>();
  const closing = new AbortController();
  let sleeping = new AbortController();
  const life = createLife(lifeMs);
  const { isSure, canJudge } = life;
  let problem: string | undefined;

  const beat = () => life.report(() => peers.beat(about, lifeMs));
  const gain = (project: Project): Promise<void> => {
    const known = held.get(project.id);
    if (known) return known.gained;
    const { id, name } = project;
    const cannot = (cause: unknown) => `hub: project ${name} cannot continue: ${cause}`;
    const own = { gained: Promise.resolve(), isReached: false };
    const work = async () => {
      await options.reach?.(project);
      unreached.delete(id);
      own.isReached = true;
      await options.onGained(project).catch((cause: unknown) => log(cannot(cause)));
    };
    held.set(id, own);
    own.gained = work();
    own.gained.catch((cause: unknown) => {
      held.delete(id);
      if (unreached.get(id) !== cannot(cause)) log(cannot(cause));
      unreached.set(id, cannot(cause));
    });
    return own.gained;
  };
  /** The next sweep tries again. */
  const gainOrLater = (project: Project): Promise<void> => gain(project).catch(() => {});
  const lose = async (project_id: string): Promise<void> => {
    const own = held.get(project_id);
    held.delete(project_id);
    log(`hub: another hub has taken over project ${project_id}`);
    await own?.gained.catch(() => {});
    await options.onLost(project_id);
  };
  const sweep = async (): Promise<void> => {
    const living = await peers.living();
    const others = living.filter(({ id }) => id !== about.id);
    const dead = new Set<string>();
    // Only those of this folder have their locks here.
    for (const { id } of others.filter(({ place }) => place === about.place))
      if (await locks.isDead(id)) dead.add(id);
    for (const id of dead) await peers.bury(id);
    const owned = new Set(await peers.owned());
    for (const id of [...held.keys()]) if (!owned.has(id)) await lose(id);
    for (const id of unreached.keys()) {
      const project = owned.has(id) ? await projects.get(id) : undefined;
      if (project) await gainOrLater(project);
      else unreached.delete(id);
    }
    const free: Project[] = [];
    for (const id of await peers.unclaimed()) {
      const project = await projects.get(id);
      if (project && canReach(about, project)) free.push(project);
    }
    // Others get time to report after the database was away.
    if (!canJudge()) return;
    // Each hub that can takes its share; what is left is taken in the next round.
    const able = others.filter((one) => !dead.has(one.id) && free.some((project) => canReach(one, project)));
    const share = Math.ceil(free.length / (1 + able.length));
    for (const project of free.slice(0, share)) if (await peers.claim(project.id)) await gainOrLater(project);
  };
  const stop = async (cause: ToolError): Promise<void> => {
    problem = cause.message;
    life.end();
    log(`hub: ${cause.message}; this hub takes no work any more`);
    for (const id of [...held.keys()]) await lose(id);
  };
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted && problem === undefined) {
      sleeping = new AbortController();
      try {
        await sweep();
      } catch (cause) {
        log(`hub: the hubs of the database cannot be read: ${cause}`);
      }
      await clock.sleep(SWEEP_MS, AbortSignal.any([closing.signal, sleeping.signal]));
    }
  };
  /** On its own: a project that takes long to continue must not make this hub seem dead. */
  const beats = async (): Promise<void> => {
    while (!closing.signal.aborted && problem === undefined) {
      await clock.sleep(lifeMs / 4, closing.signal);
      if (closing.signal.aborted) return;
      try {
        await beat();
      } catch (cause) {
        if (cause instanceof ToolError && cause.code === "UNSUPPORTED") return stop(cause);
        log(`hub: this hub cannot report to the database: ${cause}`);
      }
    }
  };
  const claim = async (project: Project): Promise<boolean> => {
    if (!(await peers.claim(project.id))) return false;
    await gain(project);
    return true;
  };
  let lock: AsyncDisposable | undefined;
  let watching: AsyncDisposable | undefined;
  let working: Promise<unknown> | undefined;

  return {
    async claimNew(project_id) {
      await peers.claim(project_id);
      return about.place;
    },
    get problem() {
      return problem;
    },
    isSure,
    canJudge,
    owns: (project_id) => held.get(project_id)?.isReached === true && isSure(),
    async start() {
      lock = await locks.hold(about.id);
      await beat();
      const others = (await peers.living()).filter(({ place }) => place === about.place);
      const foreign = others.find(({ machine }) => machine !== about.machine);
      if (foreign) throw elsewhere(foreign);
      watching = await peers.watch((signal) => {
        if (signal === undefined || signal.kind === "free") sleeping.abort();
      });
      await sweep();
      working = Promise.all([loop(), beats()]);
    },
    async ownerOf(project_id) {
      for (;;) {
        if (problem !== undefined) throw outdated(problem);
        const gained = held.get(project_id)?.gained;
        if (gained && isSure()) {
          await gained;
          return undefined;
        }
        const owner = await peers.ownerOf(project_id);
        if (owner && owner.id !== about.id) return owner;
        const project = await projects.get(project_id);
        // The action says that there is none.
        if (!project) return undefined;
        if (!owner && !gained && !canJudge()) {
          await clock.sleep(SWEEP_MS, closing.signal);
          closing.signal.throwIfAborted();
          continue;
        }
        if (!canReach(about, project)) return findReaching(peers, project);
        if (await claim(project)) {
          if (isSure()) return undefined;
          await beat();
        }
      }
    },
    async close() {
      closing.abort();
      await working;
      await watching?.[Symbol.asyncDispose]();
      await peers.leave().catch((cause: unknown) => log(`hub: this hub cannot leave the database: ${cause}`));
      await lock?.[Symbol.asyncDispose]();
    },
  };
}

/** A living hub that has the folder of the project. */
async function findReaching(peers: Peers, project: Project): Promise<HubAbout> {
  const found = (await peers.living()).find((one) => canReach(one, project));
  if (found) return found;
  const { name, place } = project;
  const message =
    place === HOSTED_PLACE
      ? `the files of project ${name} are on hosts; start a hub with --nats`
      : `no running hub has the folder of project ${name}; start the hub on its machine again`;
  throw new ToolError("UPSTREAM_ERROR", message, {});
}

const outdated = (message: string) =>
  new ToolError("UNSUPPORTED", message, { what: "a database of a newer hub", how: "update Octant" });

const elsewhere = ({ where }: HubAbout) =>
  new ToolError(
    "LOCKED",
    `the folder is used by a hub of another machine (${where}); hubs of several machines need a folder each`,
    {},
  );
