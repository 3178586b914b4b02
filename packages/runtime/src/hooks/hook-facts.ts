import { wholeCharacters } from "@octant/host";

/** The facts about a call that a hook receives. */
export interface HookFacts {
  /** `fs.read` or `mcp__server__tool`. */
  readonly name: string;
  readonly session: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The call's answer, for post-hooks. */
  readonly answer?: { readonly output: unknown };
}

/** The facts as a program gets them. */
export interface HookInput {
  readonly env: Readonly<Record<string, string>>;
  /** All of it, as JSON. */
  readonly stdin: Buffer;
}

/** A variable of the environment cannot hold more than twice as much. */
const MAX_VARIABLE_BYTES = 64 * 1024;

export function toHookInput({ name, session, input, answer }: HookFacts): HookInput {
  const inputJson = JSON.stringify(input);
  const outputJson = answer && (JSON.stringify(answer.output) ?? "null");
  return {
    env: {
      HANZO_TOOL_NAME: name,
      HANZO_SESSION_ID: session,
      ...toVariable("HANZO_TOOL_INPUT", inputJson),
      ...(outputJson !== undefined && toVariable("HANZO_TOOL_OUTPUT", outputJson)),
    },
    stdin: Buffer.from(
      outputJson === undefined ? inputJson : `{"input":${inputJson},"output":${outputJson}}`,
    ),
  };
}

function toVariable(name: string, json: string): Record<string, string> {
  const bytes = Buffer.from(json);
  if (bytes.length <= MAX_VARIABLE_BYTES) return { [name]: json };
  const beginning = bytes.subarray(0, MAX_VARIABLE_BYTES);
  return {
    [name]: beginning.toString("utf8", 0, wholeCharacters(beginning)),
    [`${name}_TRUNCATED`]: "1",
  };
}
