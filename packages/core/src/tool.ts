import { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import type { UnaskedIn } from "./modes.ts";
import type { AskOptions } from "./questions/board.ts";
import type { Ask, QuestionBody, QuestionOutcome } from "./questions/question.ts";
import type { ActionText, Reader } from "./text/text.ts";
import type { NamedTopic } from "./topics.ts";

export const TIMINGS = ["sync", "async_short", "async_medium", "async_long", "fire_and_forget"] as const;
export type Timing = (typeof TIMINGS)[number];
export type Access = "read" | "write" | "admin";
/** The scope of an action: this one project, or the whole server. */
export type Target = "project" | "global";
/** Why an action is called; a mode allows a set of intents. */
export type Intent = "inspect" | "apply" | "verify" | "ship";

/** The caller. Handles and scopes belong to a caller. */
export interface Caller {
  readonly id: string;
  /** The caller's maximum access; an edge without tokens gives "admin". */
  readonly access: Access;
  /** The only project that the caller may touch; all of the server when absent. */
  readonly project?: string;
  /** Sees jobs and events of every caller, as the person who owns the server may. */
  readonly sees?: "all";
  /** The caller is on another machine, so local-only resources are closed to it. */
  readonly remote?: true;
  /** The person typed the call, or Octant makes it for its own screen: hooks judge the calls of models. */
  readonly isPerson?: true;
}

/** A step's decision about a call and its basis, for the audit log. */
export interface DecisionNote {
  readonly step: "access" | "mode" | "permission" | "hook";
  readonly outcome: "allow" | "deny" | "prompt";
  /** The rule, the hook or the level that decided. */
  readonly rule?: string;
  /** Where that rule is written. */
  readonly tier?: string;
  readonly reason?: string;
}

/** Work that continues after the call was answered. */
export interface OngoingJob {
  readonly job_id: string;
  /** How it ends; absent where another call, with the same key, has begun it. */
  readonly ended?: Promise<ErrorCode | "OK">;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Part of the output of a call while it runs. */
export type StreamChunk =
  | ({ readonly kind: "progress" } & Progress)
  | { readonly kind: "log"; readonly line: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly bytes: Uint8Array }
  /** Output that is missing at this point: bytes that the tool left out, or chunks that were dropped. */
  | { readonly kind: "missing"; readonly bytes?: number; readonly chunks?: number };

/** A part of the answer that is not text, such as the picture that fs.read found. */
export interface Attachment {
  readonly kind: "image" | "audio";
  readonly mime: string;
  readonly bytes: Uint8Array;
}

/** Bytes that travel beside a call or its answer on a binary wire, read as fast as the other end takes them. */
export interface BinaryPart {
  readonly mime: string;
  readonly size: number;
  read(): AsyncIterable<Uint8Array>;
}

/** A call as a step of the pipeline sees it. */
export interface StepContext extends Context {
  /** The decisions of the steps before, in order. */
  readonly decisions: readonly DecisionNote[];
  /** Records a decision for the audit log. */
  decided(note: DecisionNote): void;
  /** `ask` for work that runs as a job: its own signal, which outlives the call, ends its questions. */
  askWith(work: Pick<AskOptions, "signal" | "progress" | "job_id">): Context["ask"];
  /** Once the call is answered: the job that continues, if any. */
  job(): OngoingJob | undefined;
  /** Sets what `hides` answers from now on. */
  hide(hides: Context["hides"]): void;
}

/** A call as its tool sees it. Per-process dependencies are arguments of the tool instead. */
export interface Context {
  readonly traceId: string;
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** Asks the person behind the caller. `unattended`: nobody can be asked. */
  ask(question: QuestionBody, more?: Pick<AskOptions, "isCovered" | "take">): Promise<QuestionOutcome>;
  /** The front end of the call, for work that passes on questions of others; absent when it has none. */
  readonly front: Ask | undefined;
  progress(update: Progress): void;
  /** Part of the call's stream, which the caller and readers of the job see as it happens; sync calls stream, too. */
  emit(chunk: StreamChunk): void;
  /**
   * Answers the caller now, with this data and the job's id; the later return value of `run` is the job's result. Not
   * for `sync`.
   */
  detach(data: unknown): void;
  /** Names the backend that did the work, for meta.backend. */
  backend(name: string): void;
  attach(attachment: Attachment): void;
  /** The bytes that came with the call; only binary wires carry any. */
  readonly upload: BinaryPart | undefined;
  /** Sends bytes beside the answer where the edge is a binary wire; others leave them out, so the answer names a ref. */
  send(part: BinaryPart): void;
  /** Why a rule hides this file from an action that declares `leavesOut`; null asks about content without a path. */
  hides(uri: string | null): string | undefined;
  /** The position passed to `more` when the cursor in the input was created; undefined on a first page. */
  resume<S extends z.ZodType>(position: S): z.output<S> | undefined;
  /** Marks that there is more and where to continue; the caller gets an opaque cursor. */
  more(position: unknown): void;
}

export interface Example<I extends z.ZodObject = z.ZodObject> {
  readonly title: string;
  readonly input: z.input<I>;
  /** The error code of an example that is refused, or whose handle does not exist elsewhere. */
  readonly fails?: ErrorCode;
}

export interface Action<I extends z.ZodObject = z.ZodObject, O extends z.ZodType = z.ZodType> {
  readonly summary: string;
  readonly access: Access;
  /** "project" when absent. */
  readonly target?: Target;
  /**
   * The project that a call touches, where a server has several. For a caller limited to another one nothing exists
   * there: NOT_FOUND.
   */
  projectOf?(input: z.output<I>): Promise<string | undefined> | string | undefined;
  readonly timing: Timing;
  readonly intent: Intent;
  /** It can change or remove existing data. Omit it for actions that only read or add. */
  readonly destructive?: true;
  /** It reaches beyond this machine, or runs something that does. */
  readonly openWorld?: true;
  /** Calls of one answer may run side by side although they are not read-only. */
  readonly parallel?: true;
  /** It runs commands of the caller's choice or programs of the project, so it relies on the sandbox. */
  readonly runsCommands?: true;
  /** From this mode on it runs without a question: undo covers it, or the sandbox confines it. */
  readonly unaskedIn?: UnaskedIn;
  /** The command, when the call is nothing else: no input, variables, terminal or shell of its own. */
  plainCommand?(input: z.output<I>): PlainCommand | undefined;
  /** A right that the call asks for, beyond those of its sandbox, and the reason for the person. */
  needs?(input: z.output<I>): Need | undefined;
  /** A rule that denies some of the files does not refuse the call: `run` asks `hides` and names what it left out. */
  readonly leavesOut?: true;
  /** It takes checkpoints of its own, or changes files through other calls only. */
  readonly ownCheckpoints?: true;
  /** `brief`: a list of tools names it, and leaves its parameters to the action `schema`. */
  readonly listing?: "brief";
  /** Every tool has it, so that it need not be listed over and over. */
  readonly builtin?: true;
  readonly input: I;
  readonly output: O;
  /** Error codes beyond those any call may have: bad arguments, policy, cancellation. */
  readonly errors?: readonly ErrorCode[];
  readonly examples: readonly [Example<I>, ...Example<I>[]];
  run(input: z.output<I>, ctx: Context): Promise<z.input<O>> | z.input<O>;
  /** The change that the call would make, such as a diff, for the person who is asked; undefined if unknown. */
  preview?(input: z.output<I>, ctx: Context): Promise<string | undefined>;
  /**
   * The call to make instead when the caller knows the present state of the file `uri`, such as an edit of a file that
   * this action would only create; undefined when there is none.
   */
  whenKnown?(input: z.output<I>, hash: string): { action: string; input: object } | undefined;
  /**
   * Renders the data as text for a model; derived from the data when absent. The fields `note`, `incomplete` and
   * `warning` are shown even if this omits them.
   */
  text?(data: z.output<O>, reader: Reader): ActionText;
}

export interface PlainCommand {
  readonly command: string | readonly string[];
  /** The URI of the folder that it runs in; the first root when absent. */
  readonly folder?: string | undefined;
}

export interface Need {
  readonly right: "network" | "outside";
  readonly reason: string;
}

// biome-ignore lint/suspicious/noExplicitAny: `run` makes an action invariant in its input; only `any` holds them all.
export type AnyAction = Action<any, any>;

/** The state of one of a tool's backends. */
export const BackendStatus = z.object({
  name: z.string(),
  available: z.boolean(),
  version: z.string().optional(),
  /** Where it was found, or how to get it. */
  detail: z.string().optional(),
});
export type Backend = Readonly<z.output<typeof BackendStatus>>;

/**
 * `full`: actions with their parameters. `brief`: the names of the actions. `on_demand`: the summary alone. The actions
 * `help` and `schema` have the rest.
 */
export type ListingWeight = "full" | "brief" | "on_demand";

/** Reads a ref of this caller; NOT_FOUND when it does not exist or belongs to another caller. */
export type RefReader = (ref: string, owner: string) => Uint8Array | Promise<Uint8Array>;

export interface Tool<
  N extends string = string,
  A extends Record<string, AnyAction> = Record<string, AnyAction>,
> {
  readonly name: N;
  readonly summary: string;
  readonly version?: string;
  readonly actions: A;
  /** How much of the tool a list of tools shows; `full` when absent. */
  readonly listing?: ListingWeight;
  /** Ref schemes that this tool serves: `fs.read` of `memory:mem_…` asks `refs.memory`. */
  readonly refs?: Readonly<Record<string, RefReader>>;
  /** Topics that readers find by name, such as with `event.poll`. */
  readonly topics?: Readonly<Record<string, NamedTopic>>;
  /** Looked up for `status` and `ws.capabilities`. */
  backends?(): Promise<readonly Backend[]> | readonly Backend[];
}

/** Returns its argument; it exists so that `run` is typed from `input` and `output`. */
export const action = <I extends z.ZodObject, O extends z.ZodType>(def: Action<I, O>): Action<I, O> => def;

export const defineTool = <const N extends string, A extends Record<string, AnyAction>>(
  def: Tool<N, A>,
): Tool<N, A> => def;

export type InputOf<T extends Tool, K extends keyof T["actions"]> = z.input<T["actions"][K]["input"]>;
export type OutputOf<T extends Tool, K extends keyof T["actions"]> = z.output<T["actions"][K]["output"]>;
