import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type McpServer, methods } from "@agentclientprotocol/sdk";
import type { Script, ScriptedRequest } from "@octant/scripted-provider";
import { expect } from "vitest";
import type { AcpClient } from "./acp-client.ts";
import { LAUNCHER } from "./published-command.ts";

/** One behaviour of an agent; the ids are those of acpx's core profile where it has one. */
export interface AcpCase {
  readonly id: string;
  run(editor: AcpClient, sessionId: string): Promise<void>;
}

const HASH = /\b[0-9a-f]{12}\b/;

/** The model's side: its answers depend on the person's message. */
export const CASE_SCRIPT: Script = (request) => {
  const { user, answers, results } = request;
  const last = results.at(-1)?.text;
  if (user.includes("write a file"))
    return last === undefined
      ? { parts: [{ call: "fs", input: { action: "write", uri: `${nameIn(user)}.txt`, content: "x\n" } }] }
      : { parts: [{ text: `result: ${last}` }] };
  if (user.includes("read the readme"))
    return last === undefined
      ? { parts: [{ text: "looking" }, { call: "fs", input: { action: "read", uri: "README.md" } }] }
      : { parts: [{ text: `it says ${last.includes("A small project.") ? "small" : last}` }] };
  if (user.includes("edit main")) return editSteps(request);
  if (user.includes("make a plan"))
    return last === undefined
      ? {
          parts: [
            {
              call: "plan",
              input: { action: "create", title: "t", steps: [{ content: "look" }, { content: "mend" }] },
            },
          ],
        }
      : { parts: [{ text: last }] };
  if (user.includes("let the other server write"))
    return last === undefined
      ? {
          parts: [
            {
              call: "mcp__other__fs",
              input: { action: "write", uri: "written.txt", content: "by a server" },
            },
          ],
        }
      : { parts: [{ text: "it answered" }] };
  if (user.includes("ask the other server"))
    return last === undefined
      ? { parts: [{ call: "mcp__other__fs", input: { action: "read", uri: "README.md" } }] }
      : { parts: [{ text: `the other server says ${last.includes("A small project.") ? "small" : last}` }] };
  if (user.includes("run a command"))
    return last === undefined
      ? { parts: [{ call: "proc", input: { action: "exec", command: "sleep 60; touch slept" } }] }
      : { parts: [{ text: last }] };
  if (user.includes("never end")) return { parts: [{ text: "a" }, { text: "b" }], delay_ms: 60_000 };
  if (user.includes("stall")) return { parts: [{ text: "begun" }], fault: { stall_after: 3 } };
  if (user.includes("fail")) return { fault: { status: 400, body: { error: { message: "bad request" } } } };
  if (user.includes("refuse")) return { parts: [{ text: "no" }], stop: "refusal" };
  if (user.includes("how many")) return { parts: [{ text: `answers so far: ${answers}` }] };
  if (user.includes("think")) return { parts: [{ thinking: "hm" }, { text: "thought" }] };
  return { parts: [{ text: `echo: ${user}` }] };
};

const nameIn = (text: string) => /named (\w+)/.exec(text)?.[1] ?? "file";

function editSteps({ results, all_results }: ScriptedRequest) {
  const last = results.at(-1)?.text;
  if (last === undefined) return { parts: [{ call: "fs", input: { action: "read", uri: "src/main.ts" } }] };
  if (/patch_id|applied|undo/i.test(last) || all_results.length % 2 === 0)
    return { parts: [{ text: `edit: ${last}` }] };
  const patch = [{ op: "replace", old: "export", new: "/* edited */ export" }];
  return {
    parts: [
      {
        call: "fs",
        input: { action: "apply_patch", uri: "src/main.ts", base_hash: HASH.exec(last)?.[0], patch },
      },
    ],
  };
}

const { session } = methods.agent;
const codeOf = (work: Promise<unknown>): Promise<number> =>
  work.then(
    () => 0,
    (cause) => cause.code,
  );
/** Resolves when the model received this text. */
const asked = (editor: AcpClient, text: string) =>
  expect.poll(() => editor.provider.requests.some(({ user }) => user.includes(text))).toBe(true);

export const CASES: readonly AcpCase[] = [
  {
    id: "acp.v1.initialize.handshake",
    async run(editor) {
      const answer = await editor.agent.request(methods.agent.initialize, { protocolVersion: 99 });
      expect(answer).toMatchObject({
        protocolVersion: 1,
        agentInfo: { name: "octant" },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, embeddedContext: true },
          sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {} },
        },
      });
    },
  },
  {
    id: "acp.v1.session.new.basic",
    async run(editor) {
      const { sessionId, modes, configOptions } = await editor.agent.request(session.new, {
        cwd: editor.project.root,
        mcpServers: [],
      });
      expect(sessionId).toMatch(/^ses_/);
      expect(modes).toMatchObject({ currentModeId: "ask" });
      expect(configOptions?.map(({ id }) => id)).toEqual(["mode", "model"]);
      await editor.agent.request(session.close, { sessionId });
    },
  },
  {
    id: "acp.v1.session.prompt.single_turn",
    async run(editor, id) {
      expect(await editor.prompt(id, "hello")).toBe("end_turn");
      expect(editor.text()).toContain("echo: hello");
    },
  },
  {
    id: "acp.v1.session.update.termination",
    async run(editor, id) {
      await editor.prompt(id, "read the readme");
      const count = editor.updates.length;
      expect(editor.updates.filter((one) => "status" in one && one.status === "completed")).toHaveLength(1);
      await editor.agent.request(session.list, {});
      expect(editor.updates).toHaveLength(count);
    },
  },
  {
    id: "acp.v1.session.cancel.in_flight",
    async run(editor, id) {
      const turn = editor.prompt(id, "stall now");
      await asked(editor, "stall now");
      await editor.agent.notify(session.cancel, { sessionId: id });
      expect(await turn).toBe("cancelled");
    },
  },
  {
    id: "acp.v1.session.cancel.idle",
    async run(editor, id) {
      await editor.agent.notify(session.cancel, { sessionId: id });
      expect(await editor.prompt(id, "after an idle cancel")).toBe("end_turn");
    },
  },
  {
    id: "acp.v1.session.cancel.followup_prompt",
    async run(editor, id) {
      const turn = editor.prompt(id, "stall first");
      await asked(editor, "stall first");
      await editor.agent.notify(session.cancel, { sessionId: id });
      const next = editor.prompt(id, "then this");
      expect([await turn, await next]).toEqual(["cancelled", "end_turn"]);
      expect(editor.text()).toContain("echo: then this");
    },
  },
  {
    id: "acp.v1.session.prompt.multi_turn",
    async run(editor, id) {
      await editor.prompt(id, "first");
      await editor.prompt(id, "second");
      await editor.prompt(id, "how many");
      expect(editor.text()).toContain("answers so far: 2");
    },
  },
  {
    id: "acp.v1.errors.invalid_params",
    async run(editor) {
      expect(await codeOf(editor.agent.request(session.new as string, { mcpServers: [] }))).toBe(-32602);
    },
  },
  {
    id: "acp.v1.errors.invalid_params.cwd_null",
    async run(editor) {
      for (const cwd of [null, "relative/path", "/no/such/folder"])
        expect(await codeOf(editor.agent.request(session.new as string, { cwd, mcpServers: [] }))).toBe(
          -32602,
        );
    },
  },
  {
    id: "acp.v1.errors.invalid_prompt_session_type",
    async run(editor) {
      const params = { sessionId: 42, prompt: [] };
      expect(await codeOf(editor.agent.request(session.prompt as string, params))).toBe(-32602);
    },
  },
  {
    id: "acp.v1.errors.unknown_session",
    async run(editor) {
      expect(await codeOf(editor.prompt("ses_unknown", "hi"))).toBe(-32002);
      const params = { sessionId: "ses_0", cwd: editor.project.root, mcpServers: [] };
      expect(await codeOf(editor.agent.request(session.load, params))).toBe(-32002);
      expect(await codeOf(editor.agent.request("session/nothing", {}))).toBe(-32601);
    },
  },
  {
    id: "acp.v1.errors.permission_denied",
    async run(editor, id) {
      editor.answer = () => "deny";
      expect(await editor.prompt(id, "run a command")).toBe("end_turn");
      expect(editor.updates).toContainEqual(expect.objectContaining({ status: "failed" }));
    },
  },
  {
    id: "acp.v1.errors.permission_denied.write",
    async run(editor, id) {
      editor.answer = () => "deny";
      expect(await editor.prompt(id, "write a file named denied")).toBe("end_turn");
      expect(() => readFileSync(join(editor.project.root, "denied.txt"))).toThrow();
      expect(editor.text()).toContain("PERMISSION_DENIED");
    },
  },
  {
    id: "acp.v1.permissions.read.approved",
    async run(editor, id) {
      await editor.prompt(id, "read the readme");
      expect(editor.text()).toContain("it says small");
      expect(editor.asked).toEqual([]);
    },
  },
  {
    id: "acp.v1.permissions.write.approved",
    async run(editor, id) {
      await editor.prompt(id, "write a file named approved");
      expect(readFileSync(join(editor.project.root, "approved.txt"), "utf8")).toBe("x\n");
      expect(editor.asked).toHaveLength(1);
    },
  },
  {
    id: "acp.v1.session.prompt.echo_empty",
    async run(editor, id) {
      expect(await editor.prompt(id, "")).toBe("end_turn");
    },
  },
  {
    id: "acp.v1.session.prompt.unrecognized",
    async run(editor, id) {
      expect(await editor.prompt(id, "/no-such-command now")).toBe("end_turn");
      expect(editor.text()).toContain("echo: /no-such-command now");
    },
  },
  {
    id: "acp.v1.session.prompt.structured_blocks",
    async run(editor, id) {
      const { root } = editor.project;
      const { stopReason } = await editor.agent.request(session.prompt, {
        sessionId: id,
        prompt: [
          { type: "text", text: "blocks:" },
          { type: "resource_link", name: "README.md", uri: `file://${root}/README.md` },
          { type: "resource", resource: { uri: "file:///x.md", text: "embedded words" } },
          { type: "image", mimeType: "image/png", data: PIXEL },
        ],
      });
      expect(stopReason).toBe("end_turn");
      const raw = editor.provider.requests.at(-1)?.raw ?? "";
      for (const part of ["README.md", "embedded words", PIXEL]) expect(raw).toContain(part);
    },
  },
  {
    id: "acp.v1.session.prompt.background_completion",
    async run(editor, id) {
      const other = await editor.newSession();
      const [a, b] = await Promise.all([editor.prompt(id, "one side"), editor.prompt(other, "other side")]);
      expect([a, b]).toEqual(["end_turn", "end_turn"]);
      await editor.agent.request(session.close, { sessionId: other });
    },
  },
  {
    id: "octant.session.prompt.audio_refused",
    async run(editor, id) {
      const block = { type: "audio" as const, mimeType: "audio/wav", data: "AAAA" };
      expect(await codeOf(editor.agent.request(session.prompt, { sessionId: id, prompt: [block] }))).toBe(
        -32602,
      );
    },
  },
  {
    id: "octant.session.prompt.second_while_running",
    async run(editor, id) {
      const turn = editor.prompt(id, "stall alone");
      await asked(editor, "stall alone");
      expect(await codeOf(editor.prompt(id, "me too"))).toBe(-32600);
      await editor.agent.notify(session.cancel, { sessionId: id });
      expect(await turn).toBe("cancelled");
    },
  },
  {
    id: "octant.session.cancel.permission_pending",
    async run(editor, id) {
      const shown = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<string>();
      editor.answer = () => {
        shown.resolve();
        return closed.promise;
      };
      const turn = editor.prompt(id, "write a file named pending");
      await shown.promise;
      await editor.agent.notify(session.cancel, { sessionId: id });
      closed.resolve("cancelled");
      expect(await turn).toBe("cancelled");
      expect(() => readFileSync(join(editor.project.root, "pending.txt"))).toThrow();
    },
  },
  {
    id: "octant.session.cancel.permission_dismissed",
    async run(editor, id) {
      editor.answer = () => "cancelled";
      expect(await editor.prompt(id, "write a file named dismissed")).toBe("cancelled");
    },
  },
  {
    id: "octant.session.cancel.running_tool",
    async run(editor, id) {
      const turn = editor.prompt(id, "run a command");
      await expect
        .poll(() => editor.updates.some((one) => "status" in one && one.status === "in_progress"), {
          timeout: 20_000,
        })
        .toBe(true);
      await editor.agent.notify(session.cancel, { sessionId: id });
      expect(await turn).toBe("cancelled");
    },
  },
  {
    id: "octant.permissions.session",
    async run(editor, id) {
      editor.answer = () => "session";
      await editor.prompt(id, "write a file named lasting");
      // To write over it would be another question.
      rmSync(join(editor.project.root, "lasting.txt"));
      await editor.prompt(id, "write a file named lasting");
      expect(editor.asked).toHaveLength(1);
    },
  },
  {
    id: "octant.session.load.replays_all",
    async run(editor, id) {
      await editor.prompt(id, "think about it");
      await editor.prompt(id, "edit main");
      await editor.agent.request(session.close, { sessionId: id });
      editor.updates.length = 0;
      const params = { sessionId: id, cwd: editor.project.root, mcpServers: [] };
      await editor.agent.request(session.load, params);
      const said = editor.updates.flatMap((one) =>
        one.sessionUpdate === "user_message_chunk" ? [one.content] : [],
      );
      expect(said).toEqual(["think about it", "edit main"].map((text) => ({ type: "text", text })));
      expect(editor.text()).toContain("thought");
      const kinds = editor.updates.map(({ sessionUpdate }) => sessionUpdate);
      expect(kinds).toContain("agent_thought_chunk");
      expect(kinds).toContain("tool_call");
      expect(JSON.stringify(editor.updates)).toContain('"oldText":"export const answer');
      await editor.prompt(id, "how many");
      expect(editor.text()).toMatch(/answers so far: [3-5]/);
    },
  },
  {
    id: "octant.session.resume.replays_nothing",
    async run(editor, id) {
      await editor.prompt(id, "first");
      await editor.agent.request(session.close, { sessionId: id });
      editor.updates.length = 0;
      await editor.agent.request(session.resume, { sessionId: id, cwd: editor.project.root });
      expect(
        editor.updates.filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update"),
      ).toEqual([]);
      await editor.prompt(id, "how many");
      expect(editor.text()).toContain("answers so far: 1");
    },
  },
  {
    id: "octant.session.close.cancels",
    async run(editor, id) {
      const turn = editor.prompt(id, "stall until closed");
      await asked(editor, "stall until closed");
      await editor.agent.request(session.close, { sessionId: id });
      expect(await turn).toBe("cancelled");
      expect(await codeOf(editor.prompt(id, "hi"))).toBe(-32002);
    },
  },
  {
    id: "octant.session.list_and_delete",
    async run(editor, id) {
      await editor.prompt(id, "a session to list");
      const list = async (cwd?: string) => {
        const { sessions } = await editor.agent.request(session.list, cwd === undefined ? {} : { cwd });
        return sessions.filter(({ sessionId }) => sessionId === id);
      };
      expect(await list()).toEqual([
        {
          sessionId: id,
          cwd: editor.project.root,
          title: "a session to list",
          updatedAt: expect.any(String),
        },
      ]);
      expect(await list(editor.project.root)).toHaveLength(1);
      expect(await list("/elsewhere")).toEqual([]);
      await editor.agent.request(session.delete, { sessionId: id });
      expect(await list()).toEqual([]);
      await editor.agent.request(session.delete, { sessionId: id });
    },
  },
  {
    id: "octant.session.modes",
    async run(editor, id) {
      await editor.agent.request(session.setMode, { sessionId: id, modeId: "plan" });
      await editor.prompt(id, "write a file named inspected");
      expect(editor.text()).toContain("mode plan does not allow fs.write");
      const set = (configId: string, value: string) =>
        editor.agent.request(session.setConfigOption, { sessionId: id, configId, value });
      const { configOptions } = await set("mode", "ask");
      expect(configOptions.find((one) => one.id === "mode")).toMatchObject({ currentValue: "ask" });
      expect(editor.updates).toContainEqual({
        sessionUpdate: "current_mode_update",
        currentModeId: "ask",
      });
      await editor.prompt(id, "write a file named allowed");
      expect(readFileSync(join(editor.project.root, "allowed.txt"), "utf8")).toBe("x\n");
      for (const [configId, value] of [
        ["mode", "none"],
        ["model", "none"],
        ["other", "x"],
      ] as const)
        expect(await codeOf(set(configId, value))).toBe(-32602);
    },
  },
  {
    id: "octant.session.models",
    async run(editor, id) {
      await editor.prompt(id, "with the first model");
      const { configOptions } = await editor.agent.request(session.setConfigOption, {
        sessionId: id,
        configId: "model",
        value: "claude-sonnet-5-5",
      });
      expect(configOptions.find((one) => one.id === "model")).toMatchObject({
        currentValue: "claude-sonnet-5-5",
      });
      await editor.prompt(id, "with the second model");
      expect(editor.provider.requests.at(-1)?.raw).toContain('"model":"claude-sonnet-5-5"');
    },
  },
  {
    id: "octant.session.commands",
    async run(editor, id) {
      await expect.poll(() => JSON.stringify(editor.updates)).toContain('"compact"');
      const offered = JSON.stringify(editor.updates.filter((one) => "availableCommands" in one));
      expect(offered).toContain('"diff"');
      expect(offered).not.toMatch(/"(quit|rewind|clear)"/);
      const before = editor.provider.requests.length;
      expect(await editor.prompt(id, "/compact")).toBe("end_turn");
      expect(editor.text()).toContain("nothing to leave out");
      expect(editor.provider.requests).toHaveLength(before);
    },
  },
  {
    id: "octant.session.new.mcp_server_of_the_editor",
    async run(editor) {
      const server: McpServer = {
        name: "other",
        command: process.execPath,
        args: [LAUNCHER, "serve", "--tools", "fs", "--permissions", "enforce"],
        env: [],
      };
      const { sessionId } = await editor.agent.request(session.new, {
        cwd: editor.project.root,
        mcpServers: [server],
      });
      const tools = async () => {
        await editor.prompt(sessionId, "hello");
        return editor.provider.requests.at(-1)?.tools;
      };
      await expect.poll(tools, { timeout: 40_000, interval: 500 }).toContain("mcp__other__fs");
      editor.answer = () => "once";
      await editor.prompt(sessionId, "ask the other server");
      expect(editor.text()).toContain("the other server says small");
      // The server asks with a form; without forms the editor is asked for each value that has a few choices.
      editor.answer = ({ options }) =>
        options.find(({ name }) => name === "once" || name === "Send")?.optionId ?? "once";
      await editor.prompt(sessionId, "let the other server write");
      expect(editor.asked.map(({ options }) => options.map(({ name }) => name))).toContainEqual([
        "once",
        "session",
        "always",
        "deny",
        "Decline",
      ]);
      const path = join(editor.project.root, "written.txt");
      expect(readFileSync(path, "utf8")).toBe("by a server");
      rmSync(path);
      await editor.agent.request(session.close, { sessionId });
    },
  },
  {
    id: "octant.elicitation.form_of_an_mcp_server",
    async run(editor) {
      const clientCapabilities = { elicitation: { form: {} } };
      await editor.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities });
      const args = [LAUNCHER, "serve", "--tools", "fs", "--permissions", "enforce"];
      const { sessionId } = await editor.agent.request(session.new, {
        cwd: editor.project.root,
        mcpServers: [{ name: "other", command: process.execPath, args, env: [] }],
      });
      const tools = async () => {
        await editor.prompt(sessionId, "hello");
        return editor.provider.requests.at(-1)?.tools;
      };
      await expect.poll(tools, { timeout: 40_000, interval: 500 }).toContain("mcp__other__fs");
      const path = join(editor.project.root, "written.txt");
      for (const [answer, isWritten] of [
        ["deny", false],
        ["not a choice", false],
        ["once", true],
      ] as const) {
        editor.values = { answer };
        await editor.prompt(sessionId, "let the other server write");
        expect(existsSync(path), answer).toBe(isWritten);
      }
      expect(editor.forms[0]).toMatchObject({
        sessionId,
        mode: "form",
        message: expect.stringMatching(/^The MCP server other asks: fs\.write/),
        requestedSchema: { properties: { answer: { title: "Allow it?" } } },
      });
      await editor.agent.request(session.close, { sessionId });
      await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    },
  },
  {
    id: "octant.session.update.plan",
    async run(editor, id) {
      await editor.prompt(id, "make a plan");
      expect(editor.updates).toContainEqual({
        sessionUpdate: "plan",
        entries: [
          { content: "look", status: "pending", priority: "medium" },
          { content: "mend", status: "pending", priority: "medium" },
        ],
      });
    },
  },
  {
    id: "octant.session.prompt.provider_error",
    async run(editor, id) {
      expect(await codeOf(editor.prompt(id, "fail please"))).toBe(-32603);
      expect(await editor.prompt(id, "recovered")).toBe("end_turn");
    },
  },
  {
    id: "octant.session.prompt.refusal",
    async run(editor, id) {
      expect(await editor.prompt(id, "refuse please")).toBe("refusal");
    },
  },
];

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
