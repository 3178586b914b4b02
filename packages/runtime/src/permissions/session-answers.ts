import { createHash } from "node:crypto";
import type { PolicyCall } from "./facts.ts";
import type { Places } from "./path-glob.ts";
import { createPolicy, type Decision, type Policy } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";

const MAX_SESSIONS = 1_000;
const MAX_ANSWERS = 500;

interface Answers {
  readonly rules: readonly PermissionRule[];
  readonly policy: Policy;
  readonly calls: ReadonlySet<string>;
}

/** Decisions for the rest of a session. They skip questions, but never override a deny of the settings. */
export class SessionAnswers {
  readonly #places: Places;
  readonly #fromStart: Policy;
  readonly #sessions = new Map<string, Answers>();
  readonly #parents = new Map<string, { readonly answers: SessionAnswers; readonly session: string }>();

  /** `allowed` holds for all sessions: the person set it at the start. */
  constructor(places: Places, allowed: readonly PermissionRule[] = []) {
    this.#places = places;
    this.#fromStart = createPolicy([{ tier: "local", rules: allowed }], places);
  }

  allows(session: string, call: PolicyCall): boolean {
    if (this.#fromStart.evaluate(call).mode === "allow") return true;
    const answers = this.#sessions.get(session);
    if (answers?.policy.evaluate(call).mode === "allow" || answers?.calls.has(digestOf(call))) return true;
    const parent = this.#parents.get(session);
    return parent?.answers.allows(parent.session, call) ?? false;
  }

  /** The rule of the session that refuses the call; undefined when none does. */
  denial(session: string, call: PolicyCall): Decision | undefined {
    const decision = this.#sessions.get(session)?.policy.evaluate(call);
    if (decision?.mode === "deny") return decision;
    const parent = this.#parents.get(session);
    return parent?.answers.denial(parent.session, call);
  }

  /** Without a rule it applies to exactly this call and its arguments. */
  remember(session: string, call: PolicyCall, rule: PermissionRule | undefined): void {
    const { rules = [], calls = [] } = this.#sessions.get(session) ?? {};
    if (rule) this.#put(session, [...rules, rule].slice(-MAX_ANSWERS), calls);
    else this.#put(session, rules, [...calls, digestOf(call)].slice(-MAX_ANSWERS));
  }

  /** Counts before the earlier ones; one with the same pattern and arguments is replaced. */
  setRule(session: string, rule: PermissionRule): void {
    const { rules = [], calls = [] } = this.#sessions.get(session) ?? {};
    const others = rules.filter((one) => !isSameTarget(one, rule));
    this.#put(session, [rule, ...others].slice(0, MAX_ANSWERS), calls);
  }

  /** The ones that count, the first first. */
  rules(session: string): readonly PermissionRule[] {
    return this.#sessions.get(session)?.rules ?? [];
  }

  /** From now on, the person's answers in the other session count in this one too, such as for a sub-agent. */
  adopt(session: string, answers: SessionAnswers, parent: string): void {
    this.#parents.set(session, { answers, session: parent });
  }

  #put(session: string, rules: readonly PermissionRule[], calls: Iterable<string>): void {
    const policy = createPolicy([{ tier: "local", rules }], this.#places);
    this.#sessions.delete(session);
    this.#sessions.set(session, { rules, policy, calls: new Set(calls) });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
  }
}

const isSameTarget = (one: PermissionRule, other: PermissionRule): boolean =>
  one.tool_pattern === other.tool_pattern && JSON.stringify(one.args) === JSON.stringify(other.args);

const digestOf = ({ name, input }: PolicyCall): string =>
  createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("base64url");
