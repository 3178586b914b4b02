/** The values of a form that a person filled in. */
export type FormValues = Readonly<Record<string, string | number | boolean | string[]>>;

export const PERMISSION_ANSWERS = ["once", "session", "always", "deny"] as const;
export const FORM_ANSWERS = ["accept", "decline", "cancel"] as const;

/** Every kind of question has its own words; `choices` lists those that a question takes. */
export interface QuestionAnswer {
  readonly answer: (typeof PERMISSION_ANSWERS)[number] | (typeof FORM_ANSWERS)[number];
  /** Why the person denied it. */
  readonly reason?: string | undefined;
  /** The values of a form that was accepted. */
  readonly content?: FormValues | undefined;
  /** Who answered, if not the person at the caller. */
  readonly by?: string | undefined;
}

/** `unattended`: nobody could be asked, or nobody answered; the reason says what the caller can do. */
export type QuestionOutcome =
  | QuestionAnswer
  | { readonly answer: "unattended"; readonly reason?: string | undefined };

/** A property of a call that the person should consider. */
export type Risk = "destructive" | "open_world" | "runs_commands" | "unconfined";

/** Whether a call may run. */
export interface PermissionBody {
  readonly kind: "permission";
  /** `fs.write` or `mcp__server__tool`. */
  readonly action: string;
  /** The action's summary. */
  readonly summary: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The change that the call would make, such as a diff. */
  readonly preview?: string | undefined;
  /** Why the person is asked. */
  readonly reason: string;
  /** The rule that asks, in words. */
  readonly rule?: string | undefined;
  /** Where that rule is written; `default` without one. */
  readonly tier: string;
  readonly risk: readonly Risk[];
  /** The calls that "session" would allow, in words; exactly this call when absent. */
  readonly session?: readonly string[] | undefined;
  /** The rule that "always" would write, and its words. Without it that answer is not offered. */
  readonly always?:
    | { readonly rule: Readonly<Record<string, unknown>>; readonly words: readonly string[] }
    | undefined;
}

/** Values that a tool or an MCP server needs, or an address that the person has to open. */
export interface FormBody {
  readonly kind: "form";
  readonly action?: string;
  readonly message: string;
  /** The MCP server that asks. */
  readonly server?: string;
  /** A JSON Schema of an object with flat fields. */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  readonly url?: string | undefined;
}

/** Whether to continue. */
export interface ConfirmationBody {
  readonly kind: "confirmation";
  readonly action?: string;
  readonly message: string;
  /** The label of the yes, such as "Remove". */
  readonly yes: string;
}

export type QuestionBody = PermissionBody | FormBody | ConfirmationBody;

interface QuestionFacts {
  readonly question_id: string;
  /** The action that asks; `mcp__server` for an MCP server. */
  readonly action: string;
  /** The id of the caller whose call waits. */
  readonly caller: string;
  /** The call of the model, in an agent. */
  readonly call_id?: string;
  /** The job whose work asks. */
  readonly job_id?: string;
  readonly choices: readonly QuestionAnswer["answer"][];
  readonly asked_at: string;
  /** When it is given up; null while the front end of its call shows it. */
  readonly expires_at: string | null;
}

export type PermissionQuestion = PermissionBody & QuestionFacts;
export type FormQuestion = FormBody & QuestionFacts;
export type Confirmation = ConfirmationBody & QuestionFacts;

/** A question to a person: plain data, which every front end shows in its own way. */
export type Question = PermissionQuestion | FormQuestion | Confirmation;

/** A front end: shows the question until the signal aborts; undefined when nobody can be asked there, `unattended` when nobody answered. */
export type Ask = (question: Question, signal: AbortSignal) => Promise<QuestionOutcome | undefined>;

/** The reason of an aborted view: the question was settled, here or elsewhere. */
export class QuestionSettled extends Error {
  override readonly name = "QuestionSettled";
  readonly outcome: QuestionOutcome;

  constructor(outcome: QuestionOutcome) {
    super("the question was settled");
    this.outcome = outcome;
  }
}

export const choicesOf = (body: QuestionBody): Question["choices"] =>
  body.kind === "permission"
    ? PERMISSION_ANSWERS.filter((choice) => choice !== "always" || body.always)
    : FORM_ANSWERS;
