// An MCP server whose only tool asks the person for values with a form, and returns the answer as it came.
import { createInterface } from "node:readline";

const SCHEMA = {
  type: "object",
  properties: {
    branch: { type: "string", title: "Branch", description: "Where the release starts", minLength: 2 },
    owner: { type: "string", title: "Owner", format: "email" },
    retries: { type: "integer", title: "Retries", minimum: 0, maximum: 5, default: 1 },
    size: {
      type: "string",
      title: "Size",
      oneOf: [
        { const: "s", title: "Small" },
        { const: "l", title: "Large" },
      ],
    },
    checks: {
      type: "array",
      title: "Checks",
      minItems: 2,
      items: {
        anyOf: [
          { const: "lint", title: "Lint" },
          { const: "types", title: "Types" },
          { const: "tests", title: "Tests" },
        ],
      },
    },
    notify: { type: "boolean", title: "Notify the team" },
  },
  required: ["branch", "size"],
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const asked = new Map();
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "forms", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: [{ name: "release", description: "Releases.", inputSchema: { type: "object" } }],
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result, error } = JSON.parse(line);
  if (method === "tools/call") {
    asked.set(`form-${id}`, id);
    const message = "Which release?\nThe values are used once.";
    send({ id: `form-${id}`, method: "elicitation/create", params: { message, requestedSchema: SCHEMA } });
  } else if (asked.has(id)) {
    const content = [{ type: "text", text: `The form: ${JSON.stringify(result ?? error)}` }];
    send({ id: asked.get(id), result: { content } });
  } else if (ANSWERS[method]) send({ id, result: ANSWERS[method](params) });
  else if (id !== undefined && method) send({ id, error: { code: -32601, message: "not here" } });
});
