import { ANSWER_BYTES, action, defineTool, ToolError } from "@octant/core";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { CALLER, temporaryProject } from "../../testing/ws/temporary-project.ts";

const echo = defineTool({
  name: "echo",
  summary: "Says it again.",
  version: "2.0.0",
  actions: {
    say: action({
      summary: "Answers with what it was given.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({ text: z.string().describe("What to say") }),
      output: z.object({ text: z.string() }),
      examples: [{ title: "Hello", input: { text: "hello" } }],
      run: ({ text }) => ({ text }),
    }),
  },
  backends: () => [{ name: "mountain", available: true, version: "8848", detail: "far away" }],
});

describe("capabilities", () => {
  test("list the version, the roots, the policy and each tool's backends", async () => {
    using project = temporaryProject({}, { mode: "inspect", limits: { max_read_bytes: 10 } });
    project.registry.addTool(echo);
    expect(await project.call("capabilities")).toEqual({
      octant: {
        version: "1.2.3",
        node: process.versions.node,
        platform: process.platform,
        arch: process.arch,
      },
      tools: [
        { name: "ws", version: "0", backends: [] },
        {
          name: "echo",
          version: "2.0.0",
          backends: [{ name: "mountain", available: true, version: "8848", detail: "far away" }],
        },
      ],
      sandbox: { mode: "off", level: "off", detail: "nothing is run here", container: null, tried: [] },
      roots: [project.uri("")],
      mode: "inspect",
      state: { kind: "temporary" },
      limits: { answer_bytes: ANSWER_BYTES, max_read_bytes: 10 },
    });
  });

  test.each([
    [
      "a tool's own error is shown",
      new ToolError("EXEC_FAILED", "git is not installed", { program: "git" }),
      "git is not installed",
    ],
    [
      "the text of a bug goes only to the log",
      new TypeError("/root/secret"),
      "the check failed; echo.status has it logged",
    ],
  ])("%s, and the other tools still answer", async (_, error, detail) => {
    using project = temporaryProject({});
    project.registry.addTool({
      ...echo,
      backends: () => {
        throw error;
      },
    });
    expect(await project.call("capabilities")).toMatchObject({
      tools: [{ name: "ws" }, { name: "echo", backends: [{ name: "echo", available: false, detail }] }],
    });
  });

  test("a tool that never responds does not outlast a cancelled call", async () => {
    using project = temporaryProject({});
    project.registry.addTool({ ...echo, backends: () => new Promise(() => {}) });
    const stop = new AbortController();
    const reply = project.dispatch(
      { tool: "ws", action: "capabilities", input: {} },
      { caller: CALLER, signal: stop.signal },
    );
    stop.abort();
    expect((await reply).envelope.error).toMatchObject({ code: "CANCELLED" });
  });
});

describe("help", () => {
  const markdownOf = (data: unknown) => (data as { markdown: string }).markdown;

  test("without a tool lists one line per tool and action, including tools added later", async () => {
    using project = temporaryProject({});
    project.registry.addTool(echo);
    const lines = markdownOf(await project.call("help")).split("\n");
    expect(lines).toContain("## echo: Says it again.");
    expect(lines).toContain("- `say` Answers with what it was given.");
    expect(lines.filter((line) => line.startsWith("- `detect`"))).toHaveLength(1);
  });

  test("accepts a tool or one of its actions", async () => {
    using project = temporaryProject({});
    project.registry.addTool(echo);
    expect(markdownOf(await project.call("help", { tool: "echo" }))).toMatch(/^# echo\n/);
    const one = markdownOf(await project.call("help", { tool: "echo.say" }));
    expect(one).toMatch(/^## echo\.say\n/);
    expect(one).toContain("What to say");
  });

  test.each([
    ["nothing", "UNKNOWN_TOOL"],
    ["ws.constructor", "UNKNOWN_ACTION"],
    ["ws.", "UNKNOWN_ACTION"],
    [".detect", "UNKNOWN_TOOL"],
  ])("refuses %s with %s", async (tool, code) => {
    using project = temporaryProject({});
    await expect(project.call("help", { tool })).rejects.toThrow(code);
    await expect(project.call("schema", { tool })).rejects.toThrow(code);
  });

  test("stays within the budget and says how to get the rest", async () => {
    using project = temporaryProject({});
    const many = Array.from({ length: 300 }, (_, at) => [
      `say_${at}`,
      { ...echo.actions.say, summary: "é".repeat(200) },
    ]);
    project.registry.addTool({ ...echo, actions: Object.fromEntries(many) });
    const markdown = markdownOf(await project.call("help", { tool: "echo" }));
    expect(Buffer.byteLength(JSON.stringify(markdown))).toBeLessThan(ANSWER_BYTES);
    expect(markdown).toMatch(/ask for one action/);
  });
});

describe("schema", () => {
  test("returns input and output of one action", async () => {
    using project = temporaryProject({});
    project.registry.addTool(echo);
    const { actions } = (await project.call("schema", { tool: "echo.say" })) as { actions: object };
    expect(actions).toMatchObject({
      "echo.say": {
        input: { properties: { text: { description: "What to say" } }, required: ["text"] },
        output: { properties: { ok: {}, data: {} } },
      },
    });
    expect(Object.keys(actions)).toEqual(["echo.say"]);
  });

  test("of all actions comes in pages that neither repeat nor drop", async () => {
    using project = temporaryProject({});
    const many = Array.from({ length: 60 }, (_, at) => [`say_${at}`, echo.actions.say]);
    project.registry.addTool({ ...echo, actions: Object.fromEntries(many) });
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null | undefined; cursor !== null; pages++) {
      const input = cursor === undefined ? {} : { cursor };
      const { envelope } = await project.dispatch(
        { tool: "ws", action: "schema", input },
        { caller: CALLER },
      );
      expect(Buffer.byteLength(JSON.stringify(envelope))).toBeLessThan(ANSWER_BYTES);
      seen.push(...Object.keys((envelope.data as { actions: object }).actions));
      cursor = envelope.meta.paging.cursor;
    }
    const all = project.registry
      .list()
      .flatMap((tool) => Object.keys(tool.actions).map((name) => `${tool.name}.${name}`));
    expect(seen).toEqual(all);
    expect(pages).toBeGreaterThan(1);
  });

  test("a cursor to a removed action is refused", async () => {
    using project = temporaryProject({});
    // The first page has all of ws, so that the cursor is at echo.
    const limit = project.registry.list().flatMap(({ actions }) => Object.keys(actions)).length;
    project.registry.addTool(echo);
    const first = await project.dispatch(
      { tool: "ws", action: "schema", input: { limit } },
      { caller: CALLER },
    );
    const { cursor } = first.envelope.meta.paging;
    project.registry.removeTool("echo");
    await expect(project.call("schema", { limit, cursor })).rejects.toThrow("INVALID_CURSOR");
  });
});
