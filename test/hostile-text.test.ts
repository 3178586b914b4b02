import { PassThrough } from "node:stream";
import { createOctant } from "@octant/app";
import {
  type AnyAction,
  createDescribe,
  type Envelope,
  ERRORS,
  type ErrorBody,
  type JsonSchema,
  type Question,
  toInputSchema,
} from "@octant/core";
import { createTerminalAsk } from "@octant/runtime";
import { afterAll, describe, expect, test } from "vitest";
import { OWN_TOOLS } from "../packages/app/src/tools/own-tools.ts";
import type { Io } from "../packages/cli/src/command.ts";
import { printJson } from "../packages/cli/src/output.ts";
import { showAttachments, showEnvelope, showFailure, showProgress } from "../packages/cli/src/show-answer.ts";
import { toOutputSchema } from "../packages/core/src/schema.ts";
import { plainText } from "../packages/terminal/src/styled.ts";
import { viewChoices, viewQuestion } from "../packages/terminal/src/view/question.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { HOSTILE, isHarmless } from "./hostile-characters.ts";

const project = createFixtureProject();
const octant = createOctant({
  projectPath: project.root,
  env: project.env,
  tools: Object.keys(OWN_TOOLS),
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});

const actions = octant.registry.list().flatMap((tool) =>
  Object.entries(tool.actions).map(([name, act]) => ({
    label: `${tool.name}.${name}`,
    tool: tool.name,
    name,
    act,
  })),
);

const describeEnvelope = createDescribe(octant.registry, [`file://${project.root}`]);

/** A terminal that records what is written to it. */
function openTerminal({ isTTY = true } = {}) {
  const stream = () => Object.assign(new PassThrough({ encoding: "utf8" }), { isTTY, columns: 80 });
  const [stdout, stderr] = [stream(), stream()];
  // Of a process, these commands use only the streams and the environment.
  const io = { stdout, stderr, env: { OCTANT_DEBUG: "1" }, cwd: () => project.root } as unknown as Io;
  const shown = () => `${stdout.read() ?? ""}${stderr.read() ?? ""}`;
  return { io, shown };
}

/** A value with hostile text in every string, for each variant of the schema in turn. */
function hostileValue(schema: JsonSchema | boolean | undefined, variant: number, text = HOSTILE): unknown {
  if (typeof schema !== "object") return text;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return hostileValue(choices[variant % choices.length], variant, text);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[variant % schema.enum.length];
  // A value of any shape, such as the answer of another action.
  if (schema.type === undefined)
    return { ok: true, data: { [text]: text }, error: null, meta: metaOf(text, text) };
  const type = [schema.type].flat();
  switch (type[variant % type.length]) {
    case "object":
      return hostileObject(schema, variant, text);
    case "array":
      // `items` of our own schemas is one schema.
      return [hostileValue(schema.items as JsonSchema, variant, text)];
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return variant % 2 === 0;
    case "null":
      return null;
    default:
      return text;
  }
}

function hostileObject(schema: JsonSchema, variant: number, text: string): object {
  const known = Object.entries(schema.properties ?? {}).map(([name, value]) => [
    name,
    hostileValue(value, variant, text),
  ]);
  const { additionalProperties: others } = schema;
  return {
    ...Object.fromEntries(known),
    ...(typeof others === "object" && { [text]: hostileValue(others, variant, text) }),
  };
}

const VARIANTS = 6;

const dataOf = (act: AnyAction, variant: number): unknown => {
  const schema = toOutputSchema(act).properties?.["data"];
  const choices = typeof schema === "object" ? (schema.anyOf ?? []) : [];
  const data = choices.find((one) => typeof one === "object" && one.type !== "null") ?? schema;
  return hostileValue(data, variant);
};

const metaOf = (tool: string, action: string) => ({
  tool,
  action,
  trace_id: HOSTILE,
  backend: HOSTILE,
  paging: { cursor: HOSTILE, more: true },
});

describe("hostile text in every string that an action returns is shown on a terminal, not obeyed", () => {
  test.each(actions)("$label", ({ tool, name, act }) => {
    for (let variant = 0; variant < VARIANTS; variant++) {
      const { io, shown } = openTerminal();
      const meta = metaOf(tool, name);
      const envelope: Envelope = { ok: true, data: dataOf(act, variant), error: null, meta };
      showEnvelope(envelope, describeEnvelope, io);
      const text = shown();
      expect(text).toSatisfy(isHarmless);
      expect(text, "the cursor is shown").toContain("\\x1b");
      printJson(envelope, io);
      const json = shown();
      expect(json).toSatisfy(isHarmless);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(envelope)));
      const pipe = openTerminal({ isTTY: false });
      printJson(envelope, pipe.io);
      expect(pipe.shown()).toBe(`${JSON.stringify(envelope, null, 2)}\n`);
    }
  });
});

describe("hostile text in every argument of a call is shown in the question about it", () => {
  test.each(actions)("$label", async ({ tool, name, act }) => {
    for (let variant = 0; variant < VARIANTS; variant++) {
      // The schema of an action's input is that of an object.
      const input = hostileValue(toInputSchema(act), variant) as Readonly<Record<string, unknown>>;
      const facts = {
        question_id: HOSTILE,
        action: `${tool}.${name}`,
        caller: HOSTILE,
        choices: ["once", "deny"],
        asked_at: HOSTILE,
        expires_at: null,
      } as const;
      const properties = { [HOSTILE]: { type: "string", title: HOSTILE, enum: [HOSTILE] } };
      const question: Question =
        variant === 2
          ? { ...facts, kind: "form", message: HOSTILE, schema: { type: "object", properties } }
          : variant === 3
            ? { ...facts, kind: "confirmation", message: HOSTILE, yes: HOSTILE }
            : {
                ...facts,
                kind: "permission",
                summary: act.summary,
                input,
                ...(variant === 1 && { preview: `+${HOSTILE}\n` }),
                reason: HOSTILE,
                tier: "user",
                risk: [],
                session: [HOSTILE],
                always: { rule: {}, words: [HOSTILE] },
              };
      const shown = { question, label: HOSTILE, values: { [HOSTILE]: HOSTILE } };
      const rows = [...viewQuestion(shown, 40).lines, ...viewChoices({ question }, 40, 9)].map(plainText);
      for (const row of rows) expect(row).toSatisfy((text: string) => isHarmless(text) && !/\n/.test(text));
      const [typed, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
      typed.end("\nn\n");
      await createTerminalAsk({ input: typed, output })(question, new AbortController().signal);
      expect(String(output.read())).toSatisfy(isHarmless);
    }
  });
});

test.each(Object.keys(ERRORS))("hostile text in the error %s is shown, not obeyed", (code) => {
  const { io, shown } = openTerminal();
  // Any details: a server elsewhere may send what it likes.
  const error = { code, message: HOSTILE, details: { [HOSTILE]: HOSTILE } } as unknown as ErrorBody;
  showEnvelope({ ok: false, data: null, error, meta: metaOf("fs", "read") }, describeEnvelope, io);
  expect(shown()).toSatisfy(isHarmless);
});

test("hostile text in progress, attachments and exceptions is shown, not obeyed", () => {
  const { io, shown } = openTerminal();
  showProgress({ progress: 1, message: HOSTILE }, io);
  showAttachments([{ kind: "image", mime: HOSTILE, bytes: new Uint8Array() }], undefined, io);
  showFailure(new Error(HOSTILE), io);
  const ownClear = shown().replaceAll("\r\x1b[K", "");
  expect(ownClear).toSatisfy(isHarmless);
});
