import { ToolError } from "@octant/core";

/** A hub that shares a database with others. */
export interface HubAbout {
  /** New at every start: what an earlier process of the same machine wrote is not its own. */
  readonly id: string;
  /** The folder that it has; hubs of one folder can reach the same workspaces. */
  readonly place: string;
  /** The machine since its last boot. */
  readonly machine: string;
  /** Host name and folder, for people. */
  readonly where: string;
  /** Its containers are on hosts, and the repositories of its projects in the object store of their NATS server. */
  readonly hosted?: boolean | undefined;
}

/** The place of projects whose files are in no hub's folder: every hub with hosts can have them. */
export const HOSTED_PLACE = "hosts";

/** Whether a hub has, or can get, the repository and the workspaces of a project. */
export const canReach = (
  hub: Pick<HubAbout, "place" | "hosted">,
  project: { readonly place?: string | undefined },
): boolean => project.place === hub.place || (hub.hosted === true && project.place === HOSTED_PLACE);

/** A call that one hub passes to another. */
export interface PeerCall {
  readonly id: string;
  readonly text: string;
}

/**
 * How the hubs of one database share the work: each project belongs to one hub at a time, which runs its container,
 * sessions and schedules. The database refuses events and records of a project from any other hub.
 */
export interface Peers {
  readonly hub_id: string;
  /** Names the database. */
  readonly database_id: string;
  /** Reports that this hub is alive; the report expires after `ms`. */
  beat(about: HubAbout, ms: number): Promise<void>;
  /** The hubs whose reports have not expired, this one included. */
  living(): Promise<readonly HubAbout[]>;
  /** Expires the report of a hub whose process is known to be dead. */
  bury(hub_id: string): Promise<void>;
  /** Gives up all projects and expires the report of this hub. */
  leave(): Promise<void>;
  /** Makes the project this hub's; false while it belongs to another living hub. */
  claim(project_id: string): Promise<boolean>;
  /** The living hub that has the project. */
  ownerOf(project_id: string): Promise<HubAbout | undefined>;
  /** The projects of this hub. */
  owned(): Promise<readonly string[]>;
  /** Projects that no living hub has. */
  unclaimed(): Promise<readonly string[]>;
  send(to: string, call: PeerCall): Promise<void>;
  /** Calls to this hub, each once. */
  take(): Promise<readonly PeerCall[]>;
  answer(id: string, text: string): Promise<void>;
  /** The answer to a call of this hub; undefined while there is none. */
  answerOf(id: string): Promise<string | undefined>;
  /** Removes a call that nobody waits for any more. True when no hub has taken it, and so none will. */
  withdraw(id: string): Promise<boolean>;
  /** Without a signal when any may have been missed. */
  watch(listener: (signal: PeerSignal | undefined) => void): Promise<AsyncDisposable>;
}

export type PeerSignal =
  /** A project was given up, or a hub has ended. */
  | { readonly kind: "free" }
  | { readonly kind: "call"; readonly hub_id: string }
  | { readonly kind: "answer" | "cancel"; readonly call_id: string };

/** The database refused a write because the project belongs to another hub by now. */
export class ProjectLost extends ToolError<"LOCKED"> {
  constructor() {
    super("LOCKED", "another hub has taken over this project; call again", {});
  }
}

/** The error for a request that only the project's hub can serve, and that is not passed on. */
export const atAnother = ({ where }: HubAbout): ToolError =>
  new ToolError("UPSTREAM_ERROR", `another hub has the project: ${where}; call that hub`, {});
