import { useState } from "preact/hooks";
import type { Explanation } from "../../../src/api.ts";
import { useLoad, usePage } from "../../data/context.ts";
import { Badge } from "../../parts/badge.tsx";
import { Fact } from "../../parts/fact.tsx";
import { Field } from "../../parts/field.tsx";
import { Json } from "../../parts/json.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Coded } from "../../text/coded.tsx";

const TONES = { runs: "good", asks: "warn", refused: "bad" } as const;
const WORDS = { runs: "It runs", asks: "A person is asked", refused: "It is refused" } as const;

/** Explains which rule, tier, mode, hook and sandbox decide a call; nothing is called. */
export function ExplainForm({ process }: { readonly process: string }) {
  const { store, router } = usePage();
  const { query } = router.route.value;
  const [action, setAction] = useState(query["action"] ?? "fs.write");
  const [input, setInput] = useState(query["input"] ?? '{ "uri": "src/main.ts" }');
  const [permissions, setPermissions] = useState<"host" | "enforce">(
    query["permissions"] === "host" ? "host" : "enforce",
  );
  const [error, setError] = useState<unknown>();
  const [answer, setAnswer] = useState<Explanation>();
  const { data: known } = useLoad(`tools ${process}`, (signal) =>
    store.api.person(process, "tools", {}, signal),
  );
  const explain = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    router.filter({ action, input, permissions });
    try {
      const parsed: unknown = JSON.parse(input || "{}");
      setAnswer(await store.api.person(process, "explain", { action, input: Object(parsed), permissions }));
    } catch (cause) {
      setAnswer(undefined);
      setError(cause instanceof SyntaxError ? `The arguments are not valid JSON: ${cause.message}` : cause);
    }
  };
  const names =
    known?.tools.flatMap(({ name, actions }) => actions.map((one) => `${name}.${one.name}`)) ?? [];
  return (
    <div class="two-columns">
      <form class="form" onSubmit={explain}>
        <Field id="explain-action" label="Action">
          <input
            id="explain-action"
            class="input"
            list="actions"
            value={action}
            required
            onInput={({ currentTarget }) => setAction(currentTarget.value)}
          />
          <datalist id="actions">
            {names.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </Field>
        <Field id="explain-input" label="Arguments as JSON" help="They need not be complete.">
          <textarea
            id="explain-input"
            class="input mono"
            rows={6}
            spellcheck={false}
            value={input}
            onInput={({ currentTarget }) => setInput(currentTarget.value)}
          />
        </Field>
        <Field id="explain-permissions" label="Who asks">
          <select
            id="explain-permissions"
            class="input"
            value={permissions}
            onChange={({ currentTarget }) =>
              setPermissions(currentTarget.value === "host" ? "host" : "enforce")
            }
          >
            <option value="enforce">Octant asks the person (the agent)</option>
            <option value="host">The MCP client asks the person (a server)</option>
          </select>
        </Field>
        <div class="answer-buttons">
          <button type="submit" class="button large primary">
            Explain
          </button>
        </div>
      </form>
      <div class="explanation" aria-live="polite">
        {error !== undefined && <Problem error={error} />}
        {answer && <Answer answer={answer} />}
      </div>
    </div>
  );
}

function Answer({ answer }: { readonly answer: Explanation }) {
  const { outcome, decided_by, why, access, mode, permission, hooks, sandbox, allow_rule } = answer;
  return (
    <>
      <p>
        <Badge tone={TONES[outcome]}>{WORDS[outcome]}</Badge>
      </p>
      <p class="explanation-why">
        <Coded text={why} />
      </p>
      <dl class="facts">
        <Fact name="Decided by" text={decided_by} />
        <Fact
          name="Access"
          text={`needs ${access.needs}, has ${access.has}${access.passes ? "" : ": refused"}`}
        />
        <Fact
          name="Mode"
          text={`${mode.mode ?? "none"}, intent ${mode.intent}${mode.passes ? "" : ": refused"}`}
        />
        <Fact name="Rule" text={`${permission.mode} (${permission.tier}): ${permission.reason}`} />
        <Fact
          name="Hooks"
          text={hooks.map(({ event, tool_pattern }) => `${event} ${tool_pattern}`).join(", ") || "none"}
        />
        <Fact name="Sandbox" text={`${sandbox.level}: ${sandbox.detail}`} />
      </dl>
      {allow_rule !== null && allow_rule !== undefined && (
        <section>
          <h3>The rule that would avoid the question</h3>
          <Json label="Rule" value={allow_rule} />
        </section>
      )}
    </>
  );
}
