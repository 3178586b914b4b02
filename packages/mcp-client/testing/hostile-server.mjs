// An MCP server of the older era in plain JavaScript, which misbehaves as its first argument says.
import { createInterface } from "node:readline";

const [how = "good", marker = "1"] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name, more = {}) => ({
  name,
  description: `Says ${name}.`,
  inputSchema: { type: "object" },
  ...more,
});
const deep = (levels) =>
  levels === 0 ? { type: "string" } : { type: "object", properties: { a: deep(levels - 1) } };

const TOOLS = {
  good: [tool("echo"), tool("fail"), tool("die"), tool("slow"), tool("ask"), tool("roots"), tool("grow")],
  changed: [tool("echo", { description: `Says echo. Version ${marker}.` })],
  twice: [tool("echo", { description: "first" }), tool("echo", { description: "second" }), tool("other")],
  ansi: [tool("echo", { description: "\u001b[31mred\u001b[0m\u200b \u001b]0;title\u0007end" })],
  bomb: [
    tool("bomb", { inputSchema: deep(200) }),
    tool("wide", { inputSchema: { type: "object", description: "x".repeat(200_000) } }),
    tool("echo"),
  ],
  many: Array.from({ length: 2_000 }, (_, at) => tool(`t${at}`)),
  huge: [tool("echo")],
  burst: [tool("echo")],
};

if (how === "dead") {
  process.stderr.write("I will not start today\n");
  process.exit(3);
}
if (how === "flood") for (;;) process.stdout.write("x".repeat(1024 * 1024));
if (how === "chatty") process.stdout.write("Welcome to my server!\nListening…\n");

let grown = false;
const OFFERS = {
  "prompts/list": () => ({
    prompts: [
      {
        name: "review",
        description: "Review\u001b[31m a file",
        arguments: [{ name: "path", required: true }],
      },
      { name: "has space" },
      ...(grown ? [{ name: "new" }] : []),
    ],
  }),
  "prompts/get": ({ name, arguments: { path } = {} }) =>
    name === "review"
      ? {
          messages: [
            { role: "user", content: { type: "text", text: `Review ${path}.` } },
            { role: "assistant", content: { type: "text", text: "I will." } },
          ],
        }
      : undefined,
  "resources/list": () => ({
    resources: [
      { uri: "notes://today", name: "today", description: "Notes of the day" },
      { uri: "notes://\u001b[31m", name: "bad" },
    ],
  }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "notes://{day}", name: "day" }] }),
  "resources/read": ({ uri }) =>
    uri === "notes://picture"
      ? { contents: [{ uri, mimeType: "image/png", blob: "iVBORw0KGgo=" }] }
      : uri.startsWith("notes://")
        ? { contents: [{ uri, mimeType: "text/plain", text: `note ${uri}` }] }
        : undefined,
};

const waiting = new Map();
const ask = (method, params) =>
  new Promise((resolve) => {
    const id = `server-${waiting.size}`;
    waiting.set(id, resolve);
    send({ id, method, params });
  });

async function call(name, input) {
  const text = (said) => ({ content: [{ type: "text", text: said }] });
  if (how === "burst") return void process.stdout.write("x".repeat(17 * 1024 * 1024));
  if (name === "echo") return text(how === "huge" ? "y".repeat(10 * 1024 * 1024) : JSON.stringify(input));
  if (name === "fail") return { ...text("it did not work"), isError: true };
  if (name === "die") process.exit(1);
  if (name === "slow") return new Promise(() => {});
  if (name === "ask")
    return text(
      JSON.stringify(
        await ask("elicitation/create", {
          mode: "form",
          message: "Which colour?",
          requestedSchema: { type: "object", properties: { colour: { type: "string" } } },
        }),
      ),
    );
  if (name === "roots") return text(JSON.stringify(await ask("roots/list", {})));
  if (name === "grow") {
    grown = true;
    for (let at = 0; at < 100; at++) send({ method: "notifications/tools/list_changed" });
    if (how === "offers") send({ method: "notifications/prompts/list_changed" });
    return text("grown");
  }
  return text(name);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (how === "mute" || (how === "listless" && method === "tools/list")) continue;
  if (method === undefined) waiting.get(id)?.(result);
  else if (how === "silent" && method !== "initialize" && method !== "tools/list") continue;
  else if (method === "initialize")
    send({
      id,
      result: {
        protocolVersion: "2025-06-18",
        capabilities: {
          tools: { listChanged: true },
          ...(how === "offers" && { prompts: { listChanged: true }, resources: { listChanged: true } }),
        },
        serverInfo: { name: "hostile", version: "1" },
      },
    });
  else if (how === "abrupt" && method === "server/discover") process.exit(1);
  else if (method === "tools/list")
    send({ id, result: { tools: [...(TOOLS[how] ?? TOOLS.good), ...(grown ? [tool("new")] : [])] } });
  else if (how === "offers" && OFFERS[method]?.(params ?? {}))
    send({ id, result: OFFERS[method](params ?? {}) });
  else if (method === "tools/call")
    void call(params.name, params.arguments).then((answer) => send({ id, result: answer }));
  else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
}
