import type { Dispatch, Envelope, Registry } from "@octant/core";
import type { InstructionFile } from "./context/instructions.ts";
import type { SkillLine } from "./context/system-prompt.ts";
import type { MemberPlan, WorktreeOutcome } from "./crew/member.ts";

/**
 * The place where a session's tools run: this process, or another one. Its policy, sandbox and project rules apply; a
 * call brings its caller, its signal and the front end that shows questions.
 */
export interface ToolHost {
  /** The declarations of the tools, from which lists and outlines are made. */
  readonly registry: Registry;
  /** Runs a call. A reply of another process has its text. */
  readonly dispatch: Dispatch;
  /** The URIs of the workspace's folders. */
  readonly roots: readonly string[];
  readonly jobs: HostJobs;
  readonly turns: HostTurns;
  /** The diff of an edit whose answer has this undo ref, for people; "" when it is not available. */
  diffOf?(undo_ref: string): Promise<string>;
  /** The project as the system prompt describes it. */
  context(): Promise<HostContext>;
  /** Markdown files that the person at this place trusts, and their own ones. */
  markdown(kind: MarkdownKind): readonly NamedMarkdown[];
  /** A dispatcher with the policy of this place for tools of this process, such as MCP servers; absent elsewhere. */
  dispatchTo?(tools: Pick<Registry, "get" | "list">): Dispatch;
}

/** Commands of the person, or roles of sub-agents. */
export type MarkdownKind = "commands" | "roles";

export interface NamedMarkdown {
  /** Its path in the folder without the extension: `git:push` of `git/push.md`. */
  readonly name: string;
  /** Relative to its root. */
  readonly path: string;
  readonly text: string;
}

/** The jobs of a caller. */
export interface HostJobs {
  /** Resolves when the job has ended, or after `ms`. */
  ended(owner: string, job_id: string, ms: number, signal: AbortSignal): Promise<unknown>;
  /** undefined while it runs. `text` is the result as the model reads it, where only the host can tell. */
  result(owner: string, job_id: string): Promise<JobResult | undefined> | JobResult | undefined;
  cancel(owner: string, job_id: string): Promise<unknown>;
}

export type JobResult = Envelope & { readonly text?: string };

export interface HostContext {
  readonly platform: string;
  /** The shell, the sandbox, and what is asked about; one line each. */
  readonly machine?: readonly string[];
  /** One line each. */
  readonly project: readonly string[];
  /** The trusted instructions for agents. */
  readonly instructions: readonly InstructionFile[];
  /** Instruction files that have no effect until the person at the host trusts them. */
  readonly untrusted: readonly string[];
  /** The skills that take effect. */
  readonly skills?: readonly SkillLine[];
}

/** The checkpoints of a workspace: what a turn of an agent changed can be undone and redone. */
export interface HostTurns {
  /** Opens a turn; its first call that is permitted takes the first checkpoint. undefined where checkpoints are off. */
  open(turn: NewTurn): Promise<OpenTurn | undefined>;
  /** Newest first. */
  list(filter?: {
    readonly session_id?: string | undefined;
    readonly limit?: number;
  }): Promise<readonly Turn[]>;
  /** The changes that an undo or redo of the turn would make now. */
  plan(turn: Turn, direction: Direction): Promise<UndoPlan>;
}

export interface NewTurn {
  readonly label: string;
  readonly session_id: string;
  /** Receives the id when the turn begins; never called when none of its calls was permitted. */
  onBegin(id: number): Promise<void>;
}

export interface OpenTurn {
  end(): Promise<void>;
}

export interface Turn {
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly label: string;
  readonly session_id: string | null;
  /** The checkpoints around it. null: it was interrupted. */
  readonly before: number;
  readonly after: number | null;
  readonly undone: boolean;
}

export type Direction = "undo" | "redo";

/** The effect of an undo or redo as data; paths are relative to the workspace where possible. */
export interface PlannedUndo {
  readonly direction: Direction;
  readonly turn: Turn;
  readonly restored: readonly {
    readonly path: string;
    readonly change: "restored" | "created" | "removed";
  }[];
  /** Files that others changed too, whose changes can be merged with the restored state. */
  readonly merged: readonly string[];
  /** Files that others changed too, which would lose those changes. */
  readonly conflicts: readonly string[];
  /** The conflicting files that changed while a command ran, by the command or by the person. */
  readonly doubtful: readonly string[];
  /** Changed entries that checkpoints do not cover; left alone. */
  readonly uncovered: readonly UncoveredEntry[];
  /** Files that others changed while the turn ran; left alone. */
  readonly meanwhile: readonly string[];
  /** Other turns that ran at the same time; it takes back their changes too. */
  readonly alongside: readonly string[];
}

export interface UncoveredEntry {
  readonly path: string;
  readonly why: "ignored" | "unreadable" | "special" | "too large" | "repository";
  /** Of a repository. */
  readonly refs?: readonly {
    readonly name: string;
    readonly before: string | undefined;
    readonly after: string | undefined;
  }[];
}

export interface UndoDiffOptions {
  readonly overwrite: boolean;
  readonly only?: "conflicts";
}

export interface UndoPlan extends PlannedUndo {
  /** A diff from the current state: of everything that `apply` would change, or only of the files with conflicts. */
  diff(options: UndoDiffOptions): Promise<string>;
  /** Applies it; files with conflicts are left alone unless `overwrite` is set. */
  apply(options: { readonly overwrite: boolean }): Promise<void>;
}

/** The place where a sub-agent works. */
export interface MemberHost {
  readonly host: ToolHost;
  /** The restrictions of its parent apply to this caller too. */
  join(caller: string): Promise<void>;
  /** After each run: commits the changes in its worktree, if it has one, and merges them when the work is done. */
  finish?: ((isDone: boolean) => Promise<WorktreeOutcome>) | undefined;
  close(): Promise<void>;
}

/** Opens the places of sub-agents. */
export interface MemberHosts {
  open(plan: MemberPlan): Promise<MemberHost>;
  close(): Promise<void>;
}
