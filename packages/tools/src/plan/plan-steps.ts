import { handle, invalidArgument } from "@octant/core";
import { z } from "zod";
import { Evidence, EvidenceInput } from "./evidence.ts";

export const MAX_STEPS = 200;
const MAX_TEXT_CHARS = 1_000;

const STEP_STATES = ["pending", "in_progress", "completed", "failed", "skipped"] as const;
export const PlanId = handle("plan");
export const StepId = z.string().regex(/^[\w.-]{1,40}$/, "a step id has letters, digits, '.', '_' and '-'");
export const StepText = z.string().trim().min(1).max(MAX_TEXT_CHARS);
const Dependencies = z.array(StepId).max(MAX_STEPS);

export const Step = z.object({
  step_id: StepId,
  content: z.string(),
  state: z.enum(STEP_STATES),
  depends_on: z.array(z.string()).readonly().optional(),
  note: z.string().optional(),
  evidence: z.array(Evidence).readonly().optional(),
});
export type Step = z.output<typeof Step>;

export const Plan = z.object({
  plan_id: PlanId,
  title: z.string(),
  state: z.enum(["pending", "in_progress", "completed", "failed"]).describe("Derived from its steps"),
  steps: z.array(Step).readonly(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});
export type Plan = z.output<typeof Plan>;

/** A step as given by the caller. */
export const StepInput = z.strictObject({
  step_id: StepId.optional().describe("Its number when absent"),
  content: StepText,
  state: z.enum(STEP_STATES).optional(),
  depends_on: Dependencies.optional(),
});

export const StepChangeInput = z.strictObject({
  step_id: StepId,
  state: z.enum(STEP_STATES).optional(),
  content: StepText.optional(),
  depends_on: Dependencies.optional(),
  note: StepText.optional().describe("Such as why it failed"),
  evidence: z.array(EvidenceInput).max(20).optional(),
});

export interface PlanChange {
  readonly add?: readonly z.output<typeof StepInput>[] | undefined;
  readonly remove?: readonly string[] | undefined;
  /** With evidence that was looked up; it is appended to that of the step. */
  readonly changes?: readonly (Omit<z.output<typeof StepChangeInput>, "evidence"> & Pick<Step, "evidence">)[];
}

/**
 * The steps after a change. Throws INVALID_ARGUMENT for unknown steps, cycles, and steps started before their
 * dependencies.
 */
export function changeSteps(before: readonly Step[], { add = [], remove = [], changes = [] }: PlanChange) {
  const steps = new Map(before.map((step) => [step.step_id, step]));
  for (const [at, step_id] of remove.entries())
    if (!steps.delete(step_id)) throw unknownStep(`remove.${at}`, step_id, steps);
  for (const [at, { step_id = nextId(steps), content, state = "pending", depends_on }] of add.entries()) {
    if (steps.has(step_id))
      throw invalidArgument(`add.${at}.step_id`, `there is a step '${step_id}' already`);
    steps.set(step_id, { step_id, content, state, ...(depends_on?.length && { depends_on }) });
  }
  for (const [at, { step_id, evidence = [], ...change }] of changes.entries()) {
    const step = steps.get(step_id);
    if (!step) throw unknownStep(`changes.${at}.step_id`, step_id, steps);
    const all = [...(step.evidence ?? []), ...evidence];
    steps.set(step_id, { ...step, ...withoutAbsent(change), ...(all.length > 0 && { evidence: all }) });
  }
  checkDependencies(steps);
  for (const [at, { step_id, state }] of changes.entries())
    if (state === "in_progress" || state === "completed") checkStart(steps, step_id, `changes.${at}.state`);
  if (steps.size > MAX_STEPS) throw invalidArgument("add", `a plan has at most ${MAX_STEPS} steps`);
  return [...steps.values()];
}

export function stateOf(steps: readonly Step[]): Plan["state"] {
  const has = (...states: readonly Step["state"][]) => steps.some(({ state }) => states.includes(state));
  if (!has("pending", "in_progress")) return has("failed") ? "failed" : "completed";
  return has("in_progress", "completed", "failed", "skipped") ? "in_progress" : "pending";
}

export const isSettled = ({ state }: Step): boolean => state === "completed" || state === "skipped";

function checkDependencies(steps: ReadonlyMap<string, Step>): void {
  const visited = new Set<string>();
  const visit = (step: Step, path: readonly string[]): void => {
    const { step_id, depends_on = [] } = step;
    if (path.includes(step_id))
      throw invalidArgument("depends_on", `steps wait for each other: ${[...path, step_id].join(" → ")}`);
    if (visited.has(step_id)) return;
    for (const id of depends_on) {
      const other = steps.get(id);
      if (!other)
        throw invalidArgument("depends_on", `step '${step_id}' depends on '${id}', which is not in the plan`);
      visit(other, [...path, step_id]);
    }
    visited.add(step_id);
  };
  for (const step of steps.values()) visit(step, []);
}

function checkStart(steps: ReadonlyMap<string, Step>, step_id: string, path: string): void {
  const open = (steps.get(step_id)?.depends_on ?? []).flatMap((id) => {
    const step = steps.get(id);
    return step && !isSettled(step) ? [`'${id}' (${step.state})`] : [];
  });
  if (open.length > 0)
    throw invalidArgument(
      path,
      `step '${step_id}' waits for ${open.join(", ")}; complete or skip that first`,
    );
}

function nextId(steps: ReadonlyMap<string, Step>): string {
  let number = steps.size + 1;
  while (steps.has(String(number))) number += 1;
  return String(number);
}

const withoutAbsent = <T extends object>(fields: T): Partial<T> =>
  // The entries are a subset of those of `fields`.
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

const unknownStep = (path: string, step_id: string, steps: ReadonlyMap<string, Step>) =>
  invalidArgument(path, `there is no step '${step_id}'; steps: ${[...steps.keys()].join(", ") || "none"}`);
