import { createHash } from "node:crypto";
import type { PolicyCall } from "./facts.ts";
import type { Places } from "./path-glob.ts";
import { createPolicy, type Policy } from "./policy.ts";
import type { PermissionRule } from "./rule.ts";

/** What people have allowed for the rest of a session. It lifts questions, never a deny. */
export interface SessionAnswers {
  allows(session: string, call: PolicyCall): boolean;
  /** Without a rule it is this very call, with these very arguments. */
  remember(session: string, call: PolicyCall, rule: PermissionRule | undefined): void;
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
  const toAnswers = (rules: readonly PermissionRule[], calls: readonly string[]): Answers => ({
    rules,
    policy: createPolicy([{ tier: "local", rules }], places),
    calls: new Set(calls),
  });
  const fromStart = createPolicy([{ tier: "local", rules: allowed }], places);
  return {
    allows(session, call) {
      if (allowed.length > 0 && fromStart.evaluate(call).mode === "allow") return true;
      const answers = sessions.get(session);
      if (!answers) return false;
      return answers.policy.evaluate(call).mode === "allow" || answers.calls.has(digestOf(call));
    },
    remember(session, call, rule) {
      const { rules = [], calls = [] } = sessions.get(session) ?? {};
      const answers = rule
        ? toAnswers([...rules, rule].slice(-MAX_ANSWERS), [...calls])
        : toAnswers(rules, [...calls, digestOf(call)].slice(-MAX_ANSWERS));
      sessions.delete(session);
      sessions.set(session, answers);
      const [oldest] = sessions.keys();
      if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
    },
    forget: (session) => void sessions.delete(session),
  };
}

const digestOf = ({ name, input }: PolicyCall): string =>
  createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("base64url");
