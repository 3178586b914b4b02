import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createAgent, createOctant, type Octant } from "@octant/app";
import { type Ask, action, defineTool, type Envelope, type Question } from "@octant/core";
import { createTerminalAsk } from "@octant/runtime";
import { createScriptedProvider } from "@octant/scripted-provider";
import { createZmqClient, serveZmq } from "@octant/wire";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createEditorAsk } from "../packages/acp/src/questions.ts";
import { readRunInput } from "../packages/app/src/agent/run-input.ts";
import { connectTo } from "../packages/mcp/testing/in-process.ts";
import { PlainApp } from "../packages/terminal/src/plain-app.ts";
import { createTestApp } from "../packages/terminal/src/testing/app.ts";
import { createFastClock } from "../packages/terminal/src/testing/clock.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { ended, runOctant, startOctant } from "./octant-process.ts";
import { openChat } from "./open-chat.ts";
import { accountAt } from "./scripted-account.ts";

const KINDS = ["permission", "form", "confirmation"] as const satisfies readonly Question["kind"][];
type Kind = (typeof KINDS)[number];

const SCHEMA = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
const Answer = z.object({ answer: z.string(), content: z.record(z.string(), z.unknown()).optional() });
const common = {
  timing: "sync",
  input: z.strictObject({}),
  output: Answer,
  examples: [{ title: "Ask", input: {} }],
} as const;

/** One action for each kind of question. */
const asker = defineTool({
  name: "asker",
  summary: "Asks the person.",
  actions: {
    permission: action({
      ...common,
      summary: "Needs a permission.",
      access: "write",
      intent: "apply",
      run: () => ({ answer: "once" }),
    }),
    form: action({
      ...common,
      summary: "Shows a form.",
      access: "read",
      intent: "inspect",
      run: (_input, ctx) => ctx.ask({ kind: "form", message: "Which colour?", schema: SCHEMA }),
    }),
    confirmation: action({
      ...common,
      summary: "Asks for a confirmation.",
      access: "read",
      intent: "inspect",
      run: (_input, ctx) => ctx.ask({ kind: "confirmation", message: "Remove all of it?", yes: "Remove" }),
    }),
  },
});

const ANSWERS = {
  permission: { answer: "once" },
  form: { answer: "accept", content: { colour: "red" } },
  confirmation: { answer: "accept" },
} as const satisfies Record<Kind, z.input<typeof Answer>>;

let project: ReturnType<typeof createFixtureProject>;
let octant: Octant;
beforeAll(() => {
  project = createFixtureProject();
  octant = createOctant({
    projectPath: project.root,
    env: project.env,
    permissions: "enforce",
    customTools: [asker],
    command: "test",
  });
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});

const toCall = (kind: Kind) => ({ tool: "asker", action: kind, input: {} });
const CALLER = { id: "local", access: "admin" } as const;
const dispatch = async (kind: Kind, ask?: Ask): Promise<Envelope> =>
  (await octant.dispatch(toCall(kind), { caller: CALLER, ask })).envelope;

/** Shows questions, and leaves the answer to others. */
const onlyShow: Ask = () => new Promise(() => {});

/** The next question on the board. */
const asked = () =>
  new Promise<Question>((resolve) => {
    const stop = octant.questions.events.listen(({ value }) => {
      if (value.type !== "asked") return;
      stop();
      resolve(value.question);
    });
  });

/** How a person answers each kind of question at each front end. */
const FRONT_ENDS: Readonly<Record<string, (kind: Kind) => Promise<Envelope>>> = {
  async terminal(kind) {
    const { app, device } = createTestApp({ turns: [] });
    const done = app.run([]);
    const shows = (text: string) =>
      vi.waitFor(async () => expect((await device.screen()).join("\n")).toContain(text), { timeout: 20_000 });
    const answer = dispatch(kind, app.ask);
    if (kind === "form") {
      await shows("[r] reply");
      device.type("r");
      await shows("your answer");
      device.type(..."red", "Enter");
    }
    await shows({ permission: "[y] allow once", form: "[y] send it", confirmation: "[y] remove" }[kind]);
    device.type("y", "Enter");
    const envelope = await answer;
    app.quit();
    await done;
    return envelope;
  },
  async plain(kind) {
    const [input, output] = [new PassThrough(), new PassThrough({ encoding: "utf8" })];
    let written = "";
    output.on("data", (text) => {
      written += text;
    });
    const { agent } = createTestApp({ turns: [] });
    const app = new PlainApp({
      agent,
      clock: createFastClock(),
      command: async () => undefined,
      facts: () => ({}),
      toContent: async (text) => text,
      input,
      output,
    });
    const done = app.run([]);
    const says = (text: string) => vi.waitFor(() => expect(written).toContain(text), { timeout: 20_000 });
    const answer = dispatch(kind, app.ask);
    if (kind === "form") {
      await says("[r] reply");
      input.write("r\n\n");
      await says("your answer: ");
      input.write("red\n");
    }
    await says({ permission: "[y] allow once", form: "[y] send it", confirmation: "[y] remove" }[kind]);
    input.write("y\n\n");
    const envelope = await answer;
    app.quit();
    await done;
    return envelope;
  },
  "octant run at a terminal": async (kind) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    input.write(kind === "form" ? "red\ny\n" : "y\n");
    return dispatch(kind, createTerminalAsk({ input, output }));
  },
  acp: async (kind) => {
    type Params = { readonly options: readonly { readonly optionId: string; readonly kind: string }[] };
    const request = async (method: string, { options }: Params) =>
      method === "elicitation/create"
        ? { action: "accept", content: { colour: "red" } }
        : {
            outcome: {
              outcome: "selected",
              optionId: options.find((one) => one.kind === "allow_once")?.optionId,
            },
          };
    // The parts of a session that questions use.
    const session = {
      id: "ses_1",
      client: { request },
      capabilities: { elicitation: { form: {} } },
      flush: async () => {},
    } as unknown as Parameters<typeof createEditorAsk>[0];
    return dispatch(kind, createEditorAsk(session).ask);
  },
  "run --input-json": async (kind) => {
    const stdin = new PassThrough();
    // Of a process, it reads only stdin.
    const io = { stdin } as unknown as Parameters<typeof readRunInput>[0];
    const input = readRunInput(io, (record) => {
      if (record.type !== "question") return;
      const { question_id } = record.question;
      stdin.write(`${JSON.stringify({ type: "answer", question_id, ...ANSWERS[kind] })}\n`);
    });
    return dispatch(kind, input.ask);
  },
  createAgent: async (kind) => {
    await using model = await createScriptedProvider([
      { parts: [{ call: "asker", input: { action: kind } }] },
      { parts: [{ text: "done" }] },
    ]);
    await using agent = createAgent({
      cwd: project.root,
      env: { ...project.env, ...accountAt(model) },
      provider: "anthropic",
      model: "some-model",
      tools: [asker],
      ask: async (question) => ANSWERS[question.kind],
    });
    let result = "";
    for await (const event of agent.run("go"))
      if (event.type === "tool_ended") result = JSON.stringify(event.content);
    for (const value of Object.values(ANSWERS[kind])) expect(result).toContain(Object(value).colour ?? value);
    return { ok: true, data: ANSWERS[kind] } as Envelope; // Its text was checked.
  },
  "MCP elicitation": async (kind) => {
    const { client, close } = await connectTo(octant.serveStdio, {
      capabilities: { elicitation: { form: {} } },
    });
    const content = {
      permission: { answer: "once" },
      form: { colour: "red" },
      confirmation: { confirm: true },
    };
    client.setRequestHandler("elicitation/create", async () => ({
      action: "accept",
      content: content[kind],
    }));
    const { structuredContent } = await client.callTool({ name: "asker", arguments: { action: kind } });
    await close();
    return structuredContent as unknown as Envelope; // Octant's envelope.
  },
  wire: async (kind) => {
    const server = await serveZmq({
      ...octant,
      address: `ipc://${project.root}/../zmq-${kind}`,
      caller: CALLER,
      jobs: octant.workspace.jobs,
      name: "octant",
      version: "1",
      log: () => {},
    });
    const client = createZmqClient({ address: server.address });
    const { envelope } = await client.dispatch(toCall(kind), { ask: async () => ANSWERS[kind] });
    client.close();
    await server.close();
    return envelope;
  },
  HTTP: async (kind) => {
    const server = await octant.serveHttp();
    const { token } = octant.tokens().create({ scopes: ["admin"] });
    const question = asked();
    const answer = dispatch(kind);
    const post = (body: object) =>
      fetch(new URL(`/approvals/${id}`, server.url), {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const { question_id: id } = await question;
    if (kind === "form") {
      const refused = await post({ answer: "accept", content: { colour: 7 } });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({ error: { details: { issues: [{ path: "colour" }] } } });
    }
    expect((await post(ANSWERS[kind])).status).toBe(200);
    const envelope = await answer;
    await server.close();
    return envelope;
  },
  "octant answer": async (kind) => {
    const question = asked();
    const answer = dispatch(kind, onlyShow);
    const { question_id } = await question;
    const at = { cwd: project.root, env: project.env };
    const values = kind === "form" ? ["colour=red"] : [];
    if (kind === "form") {
      const refused = await runOctant(["answer", question_id, "accept", "color=red"], at);
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("color: is not a field of this form; fields: colour");
    }
    const { code } = await runOctant(["answer", question_id, ANSWERS[kind].answer, ...values], at);
    expect(code).toBe(0);
    return answer;
  },
};

describe.each(Object.entries(FRONT_ENDS))("%s", (_name, answerAt) => {
  test.each(KINDS)("shows and answers a %s", async (kind) => {
    expect(await answerAt(kind)).toMatchObject({ ok: true, data: ANSWERS[kind] });
  });
});

test("octant answer asks for the values of a form", async () => {
  const question = asked();
  const answer = dispatch("form", onlyShow);
  const { question_id } = await question;
  const at = { cwd: project.root, env: project.env, input: "red\ny\n" };
  expect(await runOctant(["answer", question_id], at)).toMatchObject({ code: 0 });
  expect(await answer).toMatchObject({ data: ANSWERS.form });
});

test("an answer after the call was cancelled is refused", async () => {
  const question = asked();
  const stop = new AbortController();
  const answer = octant.dispatch(toCall("permission"), {
    caller: CALLER,
    ask: onlyShow,
    signal: stop.signal,
  });
  const { question_id } = await question;
  stop.abort();
  expect((await answer).envelope).toMatchObject({ error: { code: "CANCELLED" } });
  const at = { cwd: project.root, env: project.env };
  expect(await runOctant(["answer", question_id, "once"], at)).toMatchObject({ code: 2 });
  expect(() => octant.questions.answer(question_id, { answer: "once" })).toThrow(
    "no such question is waiting",
  );
});

const WRITE = [
  { parts: [{ call: "fs", input: { action: "write", uri: "asked.txt", content: "yes\n" } }] },
  { parts: [{ text: "It is over." }] },
];

describe("a run without a person", () => {
  /** Runs until a question is announced on stderr, if it waits for answers. */
  async function start(args: readonly string[]) {
    const provider = await createScriptedProvider(WRITE);
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const own = createFixtureProject();
    onTestFinished(() => own[Symbol.dispose]());
    const at = { cwd: own.root, env: { ...own.env, ...accountAt(provider) } };
    const child = startOctant(
      ["run", "go", "--json", "--provider", "anthropic", "--model", "m", ...args],
      at,
    );
    child.stdin.end();
    const announced = new Promise<string>((resolve) => {
      let text = "";
      child.stderr.on("data", (data) => {
        text += String(data);
        const id = / answer (question_\w+)/.exec(text)?.[1];
        if (id) resolve(id);
      });
    });
    /** What the model was told about its call. */
    const told = () => provider.requests[1]?.results[0]?.text;
    return { at, announced, done: ended(child), told, written: join(own.root, "asked.txt") };
  }

  test("refuses at once by default", async () => {
    const { done, written } = await start([]);
    const { code, stdout } = await done;
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ unapproved: ["fs.write"], exit_code: 5 });
    expect(existsSync(written)).toBe(false);
  });

  test("is rescued by octant answer with --wait-for-answers", async () => {
    const { at, announced, done, written } = await start(["--wait-for-answers", "120"]);
    expect(await runOctant(["answer", await announced, "once"], at)).toMatchObject({ code: 0 });
    const { code, stdout } = await done;
    expect(JSON.parse(stdout)).toMatchObject({ unapproved: [], exit_code: 0 });
    expect(code).toBe(0);
    expect(existsSync(written)).toBe(true);
  });

  test("gives up after that time", async () => {
    const { announced, done, told } = await start(["--wait-for-answers", "0.2"]);
    await announced;
    const { code, stdout } = await done;
    expect(JSON.parse(stdout)).toMatchObject({ unapproved: ["fs.write"], exit_code: 5 });
    expect(code).toBe(5);
    expect(told()).toContain("nobody answered within 0.2 s");
    expect(told()).not.toContain("nobody can be asked");
  });
});

test("a chat and octant answer at once: one answer counts, and a killed one changes nothing", async () => {
  await using chat = await openChat(WRITE);
  const { root, env } = chat.project;
  const at = { cwd: root, env };
  await chat.start();
  chat.terminal.type("write it\r");
  await chat.terminal.shows("[y] allow once");
  const [{ question_id }] = JSON.parse((await runOctant(["answer", "--json"], at)).stdout);
  const killed = startOctant(["answer", question_id], at);
  await new Promise((resolve) => killed.stderr.once("data", resolve));
  killed.kill("SIGKILL");
  await ended(killed);
  expect(existsSync(join(root, "asked.txt"))).toBe(false);
  const other = runOctant(["answer", question_id, "deny"], at);
  chat.terminal.type("y\r");
  await chat.terminal.shows("It is over.");
  const { code } = await other;
  // The answer that was taken is the one that took effect.
  expect(existsSync(join(root, "asked.txt"))).toBe(code !== 0);
  rmSync(join(root, "asked.txt"), { force: true });
});
