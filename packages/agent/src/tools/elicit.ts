import type { Elicitation, ElicitationAnswer } from "@octant/mcp-client";
import type { PermissionAnswer, PermissionPrompter, PermissionRequest } from "@octant/runtime";
import { type FormField, fieldsOf, isFilledIn, type Values } from "./elicitation-form.ts";

/**
 * Passes an MCP server's question to the person: to open an address, or to fill in a form, as a whole where that can be
 * shown, otherwise value by value, and to send it. When nobody can answer, it is declined and `log` says so.
 */
export const elicitThrough =
  (prompter: PermissionPrompter, log: (line: string) => void = () => {}) =>
  async (question: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> => {
    const asked = toAsking(prompter, question, signal);
    const decline = (why: string): ElicitationAnswer => {
      log(`the MCP server ${question.server} asked "${question.message}"; it was declined: ${why}`);
      return { action: "decline" };
    };
    const { url } = question;
    if (url !== undefined && !isWebAddress(url)) return decline("its address is not of the web");
    const shown = await prompter.showForm?.(question, signal);
    if (shown)
      return shown.action !== "accept" || isFilledIn(question.schema, shown.content)
        ? shown
        : decline("the values do not fit its form");
    const values = url === undefined ? await fillIn(question, prompter, asked) : {};
    if (typeof values === "string") return decline(values);
    if (!values) return { action: "decline" };
    const reason =
      url === undefined ? "yes sends these values to the server" : "yes says that you opened the address";
    const { answer } = await asked(reason, url === undefined ? values : { url });
    if (answer === "unattended") return decline("no one is here to answer");
    if (answer === "deny") return { action: "decline" };
    return { action: "accept", ...(url === undefined && { content: values }) };
  };

type Ask = (
  reason: string,
  input: PermissionRequest["input"],
  field?: Pick<FormField, "question" | "choices">,
) => Promise<PermissionAnswer>;

const toAsking =
  (prompter: PermissionPrompter, { server, message }: Elicitation, signal: AbortSignal): Ask =>
  (reason, input, field) =>
    prompter.requestPermission({
      name: `mcp__${server}`,
      summary: `the MCP server asks: ${message}`,
      input,
      decision: { mode: "prompt", tier: "default", rule: null, reason },
      caller: { id: `mcp:${server}`, access: "read" },
      progress() {},
      signal,
      isCovered: () => false,
      ...field,
    });

/** The values of a form; undefined when the person does not want to give them, a text when they cannot be asked. */
async function fillIn(
  { schema }: Elicitation,
  prompter: PermissionPrompter,
  ask: Ask,
): Promise<Values | string | undefined> {
  let fields: readonly FormField[];
  try {
    fields = fieldsOf(schema);
  } catch {
    return "its form cannot be shown";
  }
  const values: Values = {};
  for (const field of fields) {
    const canAsk = prompter.reads === "text" || (prompter.reads === "choices" && field.choices);
    const given = canAsk ? await askFor(field, ask) : { value: field.proposed };
    if (!given) return undefined;
    if (given.value !== undefined) values[field.name] = given.value;
    else if (field.isRequired) return whyNot(prompter, field);
  }
  return values;
}

const whyNot = ({ reads }: PermissionPrompter, { name }: FormField): string =>
  reads === "choices"
    ? `this client shows no forms, so '${name}' cannot be filled in; answer it in a terminal with octant`
    : `no one is here to fill in '${name}'`;

/** Asks until the answer fits; undefined when the person denies. */
async function askFor(
  { question, choices, parse }: FormField,
  ask: Ask,
): Promise<{ readonly value: Values[string] | undefined } | undefined> {
  let problem = "";
  for (;;) {
    const answer = await ask(
      "the server wants a value",
      {},
      {
        question: `${problem}${question}`,
        choices,
      },
    );
    if (answer.answer === "deny" || answer.answer === "unattended") return undefined;
    const parsed = parse(answer.text ?? "");
    if (!("problem" in parsed)) return parsed;
    problem = `${parsed.problem}. `;
  }
}

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
