import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type AnyMessage,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import { createScriptedProvider, type Script } from "@octant/scripted-provider";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test, vi } from "vitest";
import { openAcpClient } from "./acp-client.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { ended, startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";

const schema = JSON.parse(
  readFileSync(
    createRequire(import.meta.url).resolve("@agentclientprotocol/sdk/schema/v2/schema.json"),
    "utf8",
  ),
);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");
const validate = ajv.compile({ $ref: "acp#/$defs/UpdateSessionNotification" });
const validateRequest = ajv.compile({ $ref: "acp#/$defs/RequestPermissionRequest" });

const WRITES: Script = ({ user, results }) => {
  if (!user.includes("write")) return { parts: [{ text: `You said: ${user.split("\n").at(-1)}` }] };
  return results.length === 0
    ? {
        parts: [
          { text: "I write." },
          { call: "fs", input: { action: "write", uri: "new.txt", content: "new\n" } },
        ],
      }
    : { parts: [{ text: "Written." }] };
};

/** The official client of the draft on the real command. */
async function openClient(script: Script, allowed: Promise<void> = Promise.resolve()) {
  const provider = await createScriptedProvider(script);
  const project = createFixtureProject();
  const env = {
    ...project.env,
    ...accountAt(provider),
  };
  const child = startOctant(["acp", "--draft-v2", "--model", "some-model"], { cwd: project.root, env });
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const problems: string[] = [];
  const raw = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const checked = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      const { method, params } = message as { method?: string; params?: unknown };
      const check = { "session/update": validate, "session/request_permission": validateRequest }[
        method ?? ""
      ];
      if (check && !check(params))
        problems.push(`${ajv.errorsText(check.errors)}: ${JSON.stringify(params)}`);
      controller.enqueue(message);
    },
  });
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      await allowed;
      return { outcome: { outcome: "selected", optionId: "once" } };
    })
    .connect({ readable: raw.readable.pipeThrough(checked), writable: raw.writable });
  const { agent } = connection;
  const version = await agent.request(methods.agent.initialize, {
    protocolVersion: 2,
    info: { name: "test", version: "1" },
  });
  const states = () =>
    updates.flatMap((one) => (one.sessionUpdate === "state_update" ? [one as { state?: string }] : []));
  return {
    agent,
    project,
    provider,
    updates,
    asked,
    problems,
    version,
    states,
    say: (sessionId: string, text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    idle: () => vi.waitFor(() => expect(states().at(-1)?.state).toBe("idle"), { timeout: 30_000 }),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended(child);
      await provider.close();
      project[Symbol.dispose]();
    },
  };
}

test("the draft of version 2: a prompt is acknowledged, states and diffs come as updates, and it resumes", async () => {
  await using editor = await openClient(WRITES);
  const { agent, project, updates, asked } = editor;
  expect(editor.version).toMatchObject({ protocolVersion: 2, info: { name: "octant" } });
  const opened = await agent.request(methods.agent.session.new, { cwd: project.root });
  expect(opened.configOptions).toContainEqual(expect.objectContaining({ configId: "mode" }));
  expect(opened.availableCommands).toContainEqual(expect.objectContaining({ name: "compact" }));
  const { sessionId } = opened;
  const { messageId } = await editor.say(sessionId, "write a file");
  await editor.idle();
  expect(updates).toContainEqual(expect.objectContaining({ sessionUpdate: "user_message", messageId }));
  expect(editor.states().map(({ state }) => state)).toEqual([
    "running",
    "requires_action",
    "running",
    "idle",
  ]);
  expect(editor.states().at(-1)).toMatchObject({ stopReason: "end_turn" });
  expect(asked).toMatchObject([{ sessionId, subject: { type: "tool_call" } }]);
  const path = join(project.root, "new.txt");
  expect(updates).toContainEqual(
    expect.objectContaining({
      status: "completed",
      content: expect.arrayContaining([
        {
          type: "diff",
          changes: [{ operation: "add", path }],
          patch: { format: "git_patch", text: expect.stringContaining("+new\n") },
        },
      ]),
    }),
  );
  updates.length = 0;
  await agent.request(methods.agent.session.resume, {
    sessionId,
    cwd: project.root,
    replayFrom: { type: "start" },
  });
  // The client hands a notification on after the answer that followed it.
  await editor.idle();
  const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
  expect(kinds).toContain("user_message_chunk");
  expect(kinds).toContain("agent_message_chunk");
  expect(updates.at(-1)).toMatchObject({ sessionUpdate: "state_update", state: "idle" });
  await expect(
    agent.request(methods.agent.session.setConfigOption, {
      sessionId,
      configId: "mood",
      value: "good",
      type: "id",
    }),
  ).rejects.toMatchObject({ code: -32_602 });
  expect(editor.problems).toEqual([]);
});

test("a prompt during another one is acknowledged at once and reaches the model at its next step", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using editor = await openClient(WRITES, promise);
  const { sessionId } = await editor.agent.request(methods.agent.session.new, { cwd: editor.project.root });
  await editor.say(sessionId, "write a file");
  await vi.waitFor(() => expect(editor.asked).toHaveLength(1), { timeout: 30_000 });
  await editor.say(sessionId, "and say why you write");
  resolve();
  await editor.idle();
  expect(editor.provider.requests.at(-1)?.raw).toContain("and say why you write");
  expect(editor.problems).toEqual([]);
});

test("without the flag, or for a client of version 1, version 1 is spoken", async () => {
  await using plain = await openAcpClient({ script: WRITES });
  expect(await plain.prompt(await plain.newSession(), "hello")).toBe("end_turn");
  await using offered = await openAcpClient({ script: WRITES, args: ["--draft-v2"] });
  expect(await offered.prompt(await offered.newSession(), "hello")).toBe("end_turn");
  expect(offered.problems).toEqual([]);
});
