import { setTimeout as sleep } from "node:timers/promises";
import {
  type Action,
  action,
  type Context,
  defineTool,
  type Timing,
  type Tool,
  ToolError,
} from "@octant/core";
import { z } from "zod";
import { Content, PIXEL, SILENCE, text } from "./fixture-content.ts";
import { type Exchange, elicit, roots, sample } from "./fixture-exchange.ts";
import { CONFIRM, DEFAULTS, DELETE, ENUMS, NAME, person, STEP_1, STEP_2 } from "./fixture-forms.ts";

/** Longer than the debounce of progress. */
const STEP_MS = 110;
const LOG_STEP_MS = 50;
const JOB_MS = 1_000;

const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

export interface FixtureParts {
  exchangeOf(ctx: Context): Exchange;
  reportToolsChanged(): void;
  reportPromptsChanged(): void;
}

/** Actions that need the client for more than a form. */
export const USES_CLIENT: ReadonlySet<string> = new Set([
  "test_reconnection",
  "test_tool_with_logging",
  "test_logging_tool",
  "test_sampling",
  "test_missing_capability",
  "test_tool_with_task",
  "failing_job",
  "test_input_required_result_elicitation",
  "test_input_required_result_sampling",
  "test_input_required_result_list_roots",
  "test_input_required_result_request_state",
  "test_input_required_result_multiple_inputs",
  "test_input_required_result_multi_round",
  "test_input_required_result_tampered_state",
  "test_input_required_result_capabilities",
]);

/** The tools of the suite, each as an action. */
export const createFixtureTool = (parts: FixtureParts): Tool =>
  defineTool({
    name: "fixture",
    summary: "What the conformance suite calls.",
    actions: {
      ...contentActions,
      ...workingActions,
      ...createClientActions(parts),
      ...createJobActions(parts),
    },
  });

type Run<I extends z.ZodObject> = Action<I, typeof Content>["run"];

const define = <I extends z.ZodObject>(timing: Timing, input: I, run: Run<I>): Action<I, typeof Content> =>
  action({
    summary: "For the conformance suite.",
    access: "read",
    timing,
    intent: "inspect",
    input,
    output: Content,
    // The suite is the only caller.
    examples: [{ title: "As the suite calls it", input: {} as z.input<I> }],
    run,
  });
const Nothing = z.strictObject({});
const simple = (run: Run<typeof Nothing>) => define("sync", Nothing, run);

const resource = (uri: string, mimeType: string, content: string): Content => ({
  content: [{ type: "resource", resource: { uri, mimeType, text: content } }],
});
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));

const contentActions = {
  test_simple_text: simple(() => text("This is a simple text response for testing.")),
  test_image_content: simple((_input, ctx) => {
    ctx.attach({ kind: "image", mime: "image/png", bytes: bytesOf(PIXEL) });
    return { content: [] };
  }),
  test_audio_content: simple((_input, ctx) => {
    ctx.attach({ kind: "audio", mime: "audio/wav", bytes: bytesOf(SILENCE) });
    return { content: [] };
  }),
  test_embedded_resource: simple(() =>
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ),
  test_multiple_content_types: simple((_input, ctx) => {
    ctx.attach({ kind: "image", mime: "image/png", bytes: bytesOf(PIXEL) });
    const json = JSON.stringify({ test: "data", value: 123 });
    return {
      content: [
        ...text("Multiple content types test:").content,
        ...resource("test://mixed-content-resource", "application/json", json).content,
      ],
    };
  }),
  test_error_handling: simple(() => {
    throw new ToolError("UNSUPPORTED", "This tool intentionally returns an error for testing", {
      what: "an answer",
      how: "none",
    });
  }),
  greet: define("sync", z.strictObject({ name: z.string().default("") }), ({ name }) =>
    text(`Hello, ${name}!`),
  ),
  json_schema_2020_12_tool: define("sync", z.looseObject({}), (input) => text(JSON.stringify(input))),
  test_header_parameter: define(
    "sync",
    z.strictObject({ region: z.string().meta({ "x-mcp-header": "Region" }) }),
    ({ region }) => text(`region ${region}`),
  ),
};

const answered = (prefix: string, answer: unknown) => text(`${prefix}: ${JSON.stringify(answer)}`);

const workingActions = {
  test_tool_with_progress: simple(async (_input, { progress, signal }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100, message: `Completed step ${done} of 100` });
      await sleep(STEP_MS, undefined, { signal });
    }
    return text("done");
  }),
  test_elicitation: define("sync", z.strictObject({ message: z.string() }), async ({ message }, ctx) =>
    answered("User response", await ctx.ask(person(message))),
  ),
  test_streaming_elicitation: simple(async (_input, ctx) => answered("User response", await ctx.ask(NAME))),
  test_elicitation_sep1034_defaults: simple(async (_input, ctx) =>
    answered("Elicitation completed", await ctx.ask(DEFAULTS)),
  ),
  test_elicitation_sep1330_enums: simple(async (_input, ctx) =>
    answered("Elicitation completed", await ctx.ask(ENUMS)),
  ),
};

function createClientActions({ exchangeOf, reportToolsChanged, reportPromptsChanged }: FixtureParts) {
  /** Asks everything at once, and shows the answers. */
  const asking = (inputs: Parameters<Exchange["request"]>[0], prefix = "Answers") =>
    simple(async (_input, ctx) => answered(prefix, await exchangeOf(ctx).request(inputs)));
  const logging = simple(async (_input, ctx) => {
    for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      exchangeOf(ctx).log("info", line);
      await sleep(LOG_STEP_MS, undefined, { signal: ctx.signal });
    }
    return text("Tool with logging executed successfully");
  });
  return {
    // A notification before the answer turns the response into a stream, which the scenario checks.
    test_reconnection: logging,
    test_tool_with_logging: logging,
    test_logging_tool: logging,
    test_sampling: define("sync", z.strictObject({ prompt: z.string() }), async ({ prompt }, ctx) => {
      const exchange = exchangeOf(ctx);
      exchange.require({ sampling: {} });
      const { answer } = await exchange.request({ answer: sample(prompt, 100) });
      return answered("LLM response", answer);
    }),
    test_missing_capability: simple((_input, ctx) => {
      exchangeOf(ctx).require({ sampling: {} });
      return text("the client can sample");
    }),
    test_trigger_tool_change: simple(() => {
      reportToolsChanged();
      return text("the tools changed");
    }),
    test_trigger_prompt_change: simple(() => {
      reportPromptsChanged();
      return text("the prompts changed");
    }),
    test_input_required_result_elicitation: asking({ user_name: elicit(NAME) }, "Hello"),
    test_input_required_result_sampling: asking({
      capital_question: sample("What is the capital of France?", 100),
    }),
    test_input_required_result_list_roots: asking({ client_roots: roots }),
    test_input_required_result_request_state: asking({ confirm: elicit(CONFIRM) }, "state-ok"),
    test_input_required_result_tampered_state: asking({ confirm: elicit(CONFIRM) }),
    test_input_required_result_multiple_inputs: asking({
      user_name: elicit(NAME),
      greeting: sample("Generate a greeting", 50),
      client_roots: roots,
    }),
    test_input_required_result_multi_round: simple(async (_input, ctx) => {
      const exchange = exchangeOf(ctx);
      const first = await exchange.request({ step1: elicit(STEP_1) });
      const second = await exchange.request({ step2: elicit(STEP_2) });
      return answered("Answers", { ...first, ...second });
    }),
    test_input_required_result_capabilities: simple(async (_input, ctx) => {
      const { capabilities, request } = exchangeOf(ctx);
      return answered(
        "Answers",
        await request({
          ...("elicitation" in capabilities && { user_name: elicit(NAME) }),
          ...("sampling" in capabilities && { greeting: sample("Generate a greeting", 50) }),
        }),
      );
    }),
  };
}

function createJobActions({ exchangeOf }: FixtureParts) {
  const job = <I extends z.ZodObject>(input: I, run: Run<I>) => define("fire_and_forget", input, run);
  return {
    slow_compute: job(
      z.strictObject({ seconds: z.number().default(0), label: z.string().default("") }),
      async ({ seconds, label }, { signal }) => {
        await sleep(seconds * 1_000, undefined, { signal });
        return text(`computed ${label}`);
      },
    ),
    failing_job: job(Nothing, async (_input, ctx) => {
      exchangeOf(ctx).require(TASKS);
      await sleep(JOB_MS, undefined, { signal: ctx.signal });
      throw new ToolError("UNSUPPORTED", "job failed", { what: "an answer", how: "none" });
    }),
    protocol_error_job: job(Nothing, () => {
      throw new Error("boom");
    }),
    confirm_delete: job(z.strictObject({ filename: z.string() }), async ({ filename }, ctx) => {
      // The question belongs to the task once the call is answered.
      await sleep(LOG_STEP_MS, undefined, { signal: ctx.signal });
      return answered(filename, await ctx.ask(DELETE));
    }),
    multi_input: job(Nothing, async (_input, ctx) => {
      await sleep(LOG_STEP_MS, undefined, { signal: ctx.signal });
      return answered("both", await Promise.all([ctx.ask(NAME), ctx.ask(DELETE)]));
    }),
    test_tool_with_task: job(Nothing, async (_input, ctx) => {
      const exchange = exchangeOf(ctx);
      const { user_name } = await exchange.request({ user_name: elicit(NAME) });
      exchange.require(TASKS);
      return answered("hello", user_name);
    }),
  };
}
