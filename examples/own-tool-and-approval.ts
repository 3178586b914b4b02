// An agent with a tool of your own, your own approvals, and a hook that sees every call.
import { createAgent } from "@octant/app";
import { action, defineTool } from "@octant/core";
import { createScriptedProvider } from "@octant/scripted-provider";
import { z } from "zod";

const orders = defineTool({
  name: "orders",
  summary: "The orders of our shop.",
  actions: {
    cancel: action({
      summary: "Cancel an order.",
      access: "write",
      intent: "apply",
      timing: "sync",
      input: z.strictObject({ order: z.int() }),
      output: z.object({ cancelled: z.int() }),
      examples: [{ title: "Cancel one", input: { order: 7 } }],
      run: ({ order }) => ({ cancelled: order }),
    }),
  },
});

await using model = await createScriptedProvider(({ answers }) =>
  answers < 2
    ? { parts: [{ call: "orders", input: { action: "cancel", order: answers === 0 ? 7 : 8 } }] }
    : { parts: [{ text: "Order 7 is cancelled, 8 is not." }] },
);
await using agent = createAgent({
  cwd: import.meta.dirname,
  env: { ...process.env, ANTHROPIC_API_KEY: "sk-example", ANTHROPIC_BASE_URL: model.baseUrl("anthropic") },
  tools: [orders],
  canUseTool: ({ action: name, input }) =>
    name === "orders.cancel" && input["order"] === 7 ? { allow: "once" } : { deny: "order 8 is on its way" },
  hooks: {
    afterCall(call, result) {
      console.log(`${call.name} ${call.input["order"]}: ${result.is_error ? "refused" : "done"}`);
      return undefined;
    },
  },
});
for await (const event of agent.run("Cancel orders 7 and 8."))
  if (event.type === "result") console.log(event.text);
