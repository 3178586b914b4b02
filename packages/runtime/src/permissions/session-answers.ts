import { createHash } from "node:crypto";
import type { PolicyCall } from "./facts.ts";
import type { Places } from "./path-glob.ts";
import { createPolicy, type Decision, type Policy } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";

/** Decisions for the rest of a session. They skip questions, but never override a deny of the settings. */
export interface SessionAnswers {
  allows(session: string, call: PolicyCall): boolean;
  /** The rule of the session that refuses the call; undefined when none does. */
  denial(session: string, call: PolicyCall): Decision | undefined;
  /** Counts before the earlier ones; one with the same pattern and arguments is replaced. */
  setRule(session: string, rule: PermissionRule): void;
  /** The ones that count, the first first. */
  rules(session: string): readonly PermissionRule[];
  /** Without a rule it applies to exactly this call and its arguments. */
  remember(session: string, call: PolicyCall, rule: PermissionRule | undefined): void;
  /** From now on, what the person said in the other session counts in this one too, such as for a sub-agent. */
  adopt(session: string, answers: SessionAnswers, parent: string): void;
  forget(session: string): void;
}

const MAX_SESSIONS = 1_000;
const MAX_ANSWERS = 500;

interface Answers {
  readonly rules: readonly PermissionRule[];
  readonly policy: Policy;
  readonly calls: ReadonlySet<string>;
}

/** `allowed` holds for all sessions: the person said so at the start. */
export function createSessionAnswers(
  places: Places,
  allowed: readonly PermissionRule[] = [],
): SessionAnswers {
  const sessions = new Map<string, Answers>();
  const parents = new Map<string, { readonly answers: SessionAnswers; readonly session: string }>();
  const toAnswers = (rules: readonly PermissionRule[], calls: readonly string[]): Answers => ({
    rules,
    policy: createPolicy([{ tier: "local", rules }], places),
    calls: new Set(calls),
  });
  const put = (session: string, answers: Answers) => {
    sessions.delete(session);
    sessions.set(session, answers);
    const [oldest] = sessions.keys();
    if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  };
  const fromStart = createPolicy([{ tier: "local", rules: allowed }], places);
  return {
    allows(session, call) {
      if (allowed.length > 0 && fromStart.evaluate(call).mode === "allow") return true;
      const answers = sessions.get(session);
      if (answers?.policy.evaluate(call).mode === "allow" || answers?.calls.has(digestOf(call))) return true;
      const parent = parents.get(session);
      return parent?.answers.allows(parent.session, call) ?? false;
    },
    remember(session, call, rule) {
      const { rules = [], calls = [] } = sessions.get(session) ?? {};
      const answers = rule
        ? toAnswers([...rules, rule].slice(-MAX_ANSWERS), [...calls])
        : toAnswers(rules, [...calls, digestOf(call)].slice(-MAX_ANSWERS));
      put(session, answers);
    },
    denial(session, call) {
      const decision = sessions.get(session)?.policy.evaluate(call);
      if (decision?.mode === "deny") return decision;
      const parent = parents.get(session);
      return parent?.answers.denial(parent.session, call);
    },
    setRule(session, rule) {
      const { rules = [], calls = [] } = sessions.get(session) ?? {};
      const others = rules.filter((one) => !isSameTarget(one, rule));
      put(session, toAnswers([rule, ...others].slice(0, MAX_ANSWERS), [...calls]));
    },
    rules: (session) => sessions.get(session)?.rules ?? [],
    adopt(session, answers, parent) {
      parents.set(session, { answers, session: parent });
    },
    forget: (session) => void sessions.delete(session),
  };
}

const isSameTarget = (one: PermissionRule, other: PermissionRule): boolean =>
  one.tool_pattern === other.tool_pattern && JSON.stringify(one.args) === JSON.stringify(other.args);

const digestOf = ({ name, input }: PolicyCall): string =>
  createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("base64url");
