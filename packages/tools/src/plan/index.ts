import {
  type ActionText,
  action,
  counted,
  defineTool,
  newHandle,
  pagingInput,
  ToolError,
} from "@octant/core";
import type { Git, Workspace } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { createRuns } from "../test/runs.ts";
import { toEvidence } from "./evidence.ts";
import {
  changeSteps,
  isSettled,
  MAX_STEPS,
  Plan,
  PlanId,
  type Step,
  StepChangeInput,
  StepId,
  StepInput,
  StepText,
  stateOf,
} from "./plan-steps.ts";

export interface PlanOptions {
  readonly workspace: Pick<Workspace, "records" | "state">;
  readonly git: Git;
}

const KIND = "plan";
const EXAMPLE_ID = "plan_00mwhcy9qe093ycmtw78se8wgvd80rqnmr07";

const whichPlan = PlanId.optional().describe("Default: your newest");

/**
 * The steps of a task. A plan belongs to its caller and changes nothing in the project, so it needs no write access.
 */
export const plan = ({ workspace: { records, state }, git }: PlanOptions) => {
  const runs = createRuns(state);
  const find = (owner: string, plan_id: string | undefined): Plan => {
    const body =
      plan_id === undefined
        ? records.list({ kind: KIND, owner, limit: 1 })[0]
        : records.get({ kind: KIND, owner, record_id: plan_id });
    if (body === undefined) throw noPlan(plan_id);
    return parse(body);
  };

  return defineTool({
    name: "plan",
    summary: "The steps of a longer task, with states and evidence.",
    actions: {
      create: action({
        summary: "Write down the steps of a task.",
        ...INSPECT,
        input: z.strictObject({ title: StepText, steps: z.array(StepInput).min(1).max(MAX_STEPS) }),
        output: Plan,
        errors: ["NO_SPACE", "IO_ERROR"],
        examples: [
          {
            title: "Two steps, one after the other",
            input: {
              title: "Fix the parser",
              steps: [{ content: "Reproduce it in a test" }, { content: "Mend it", depends_on: ["1"] }],
            },
          },
        ],
        text: planText,
        run({ title, steps: add }, { caller: { id: owner } }) {
          const now = new Date().toISOString();
          const steps = changeSteps([], { add });
          const plan_id = newHandle(KIND, Date.now());
          const made: Plan = {
            plan_id,
            title,
            state: stateOf(steps),
            steps,
            created_at: now,
            updated_at: now,
          };
          records.put({ kind: KIND, owner, record_id: plan_id, body: JSON.stringify(made) });
          return made;
        },
      }),
      update: action({
        summary: "Change, add and remove steps; evidence is looked up.",
        ...INSPECT,
        input: z.strictObject({
          plan_id: whichPlan,
          title: StepText.optional(),
          changes: z.array(StepChangeInput).max(MAX_STEPS).optional(),
          add: z.array(StepInput).max(MAX_STEPS).optional(),
          remove: z.array(StepId).max(MAX_STEPS).optional(),
        }),
        output: Plan,
        errors: ["NOT_FOUND", "NOT_A_REPOSITORY", "VCS_ERROR", "NO_SPACE", "IO_ERROR"],
        examples: [
          {
            title: "A step is done, with proof",
            input: {
              plan_id: EXAMPLE_ID,
              changes: [
                { step_id: "1", state: "completed", evidence: [{ kind: "commit", ref: "HEAD" }] },
                { step_id: "2", state: "in_progress" },
              ],
            },
            fails: "NOT_FOUND",
          },
        ],
        text: planText,
        async run({ plan_id: asked, title, changes = [], ...change }, { caller: { id: owner }, signal }) {
          const { plan_id } = find(owner, asked);
          const looked = await Promise.all(
            changes.map(async ({ evidence = [], ...one }) => ({
              ...one,
              evidence: await Promise.all(
                evidence.map((each) => toEvidence(each, { runs, git }, owner, signal)),
              ),
            })),
          );
          const body = records.change({ kind: KIND, owner, record_id: plan_id }, (before) => {
            const known = parse(before);
            const steps = changeSteps(known.steps, { ...change, changes: looked });
            const updated_at = new Date().toISOString();
            const next: Plan = {
              ...known,
              title: title ?? known.title,
              state: stateOf(steps),
              steps,
              updated_at,
            };
            return JSON.stringify(next);
          });
          if (body === undefined) throw noPlan(plan_id);
          return parse(body);
        },
      }),
      list: action({
        summary: "Your plans, newest first.",
        listing: "brief",
        ...INSPECT,
        input: z.strictObject({ ...pagingInput(20, 100) }),
        output: z.object({
          plans: z.array(Plan.omit({ steps: true }).extend({ done: z.int(), total: z.int() })),
        }),
        errors: ["INVALID_CURSOR", "IO_ERROR"],
        examples: [{ title: "List the plans", input: {} }],
        text: ({ plans }) => ({
          body:
            plans
              .map(
                ({ plan_id, title, state: now, done, total }) =>
                  `${plan_id} ${title} (${now}, ${done}/${total})`,
              )
              .join("\n") || "there are no plans",
        }),
        run({ limit }, ctx) {
          const before = ctx.resume(PlanId);
          const found = records
            .list({ kind: KIND, owner: ctx.caller.id, before, limit: limit + 1 })
            .map(parse);
          const page = found.slice(0, limit);
          if (found.length > limit) ctx.more(page.at(-1)?.plan_id);
          return {
            plans: page.map(({ steps, ...about }) => ({
              ...about,
              done: steps.filter(isSettled).length,
              total: steps.length,
            })),
          };
        },
      }),
      get: action({
        summary: "A plan with its steps.",
        listing: "brief",
        ...INSPECT,
        input: z.strictObject({ plan_id: whichPlan }),
        output: Plan,
        errors: ["NOT_FOUND", "IO_ERROR"],
        examples: [{ title: "Where it stands", input: { plan_id: EXAMPLE_ID }, fails: "NOT_FOUND" }],
        text: planText,
        run: ({ plan_id }, { caller }) => find(caller.id, plan_id),
      }),
    },
  });
};

// This tool wrote it.
const parse = (body: string): Plan => Plan.parse(JSON.parse(body));

const noPlan = (plan_id: string | undefined) =>
  plan_id === undefined
    ? new ToolError("NOT_FOUND", "you have no plan yet; plan.create makes one", {})
    : new ToolError("NOT_FOUND", `there is no plan '${plan_id}'; plan.list shows yours`, { id: plan_id });

const SIGNS: Readonly<Record<Step["state"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  failed: "[!]",
  skipped: "[-]",
};

const planText = ({ plan_id, title, steps }: Plan): ActionText => ({
  body: [title, ...steps.map(stepLine)].join("\n"),
  notes: [`${steps.filter(isSettled).length} of ${counted(steps.length, "step")} done`],
  handles: { plan: plan_id },
});

function stepLine({ step_id, content, state, depends_on = [], note, evidence = [] }: Step): string {
  const after = depends_on.length > 0 ? ` (after ${depends_on.join(", ")})` : "";
  const why = note === undefined ? "" : ` — ${note}`;
  const proof = evidence.map(
    ({ kind, ref, result }) => `\n      ${kind} ${ref}${result ? `: ${result}` : ""}`,
  );
  return `${SIGNS[state]} ${step_id} ${content}${after}${why}${proof.join("")}`;
}
