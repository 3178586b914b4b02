import type { Elicitation, ElicitationAnswer } from "@octant/mcp";
import type { PermissionPrompter } from "@octant/runtime";

type Values = NonNullable<ElicitationAnswer["content"]>;

/**
 * Asks the person what an MCP server wants to know, as an approval: to open an address, or to send the values that the
 * server proposes. A question that has no proposed answer is declined, and so is every one when nobody is there.
 */
export const elicitThrough =
  (prompter: PermissionPrompter) =>
  async ({ server, message, schema, url }: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> => {
    const values = url === undefined ? proposedBy(schema) : {};
    if (!values || (url !== undefined && !isWebAddress(url))) return { action: "decline" };
    const { answer } = await prompter.requestPermission({
      name: `mcp__${server}`,
      summary: `the MCP server asks: ${message}`,
      input: url === undefined ? values : { url },
      decision: {
        mode: "prompt",
        tier: "default",
        rule: null,
        reason:
          url === undefined ? "yes sends these values to the server" : "yes says that you opened the address",
      },
      caller: { id: `mcp:${server}`, access: "read" },
      ask: async () => undefined,
      progress() {},
      signal,
      isCovered: () => false,
    });
    if (answer === "deny" || answer === "unattended") return { action: "decline" };
    return { action: "accept", ...(url === undefined && { content: values }) };
  };

/** The defaults of all fields; undefined where a required field has none. */
function proposedBy(schema: Elicitation["schema"]): Values | undefined {
  const required: readonly unknown[] = Array.isArray(schema?.["required"]) ? schema["required"] : [];
  const fields = Object.entries<{ default?: Values[string] }>(Object(schema?.["properties"]));
  if (fields.some(([name, field]) => required.includes(name) && field.default === undefined))
    return undefined;
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  );
}

const isWebAddress = (url: string): boolean => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
