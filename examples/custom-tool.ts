// Octant in your own process, with a tool of your own next to ours.
import { createOctant } from "@octant/app";
import { action, defineTool, ToolError } from "@octant/core";
import { z } from "zod";

const greeter = defineTool({
  name: "greeter",
  summary: "Greet people.",
  actions: {
    greet: action({
      summary: "Say hello.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({ name: z.string().min(1) }),
      output: z.object({ text: z.string() }),
      errors: ["NOT_FOUND"],
      examples: [{ title: "Ada", input: { name: "Ada" } }],
      run({ name }) {
        if (name === "Nobody") throw new ToolError("NOT_FOUND", "there is nobody of that name", { id: name });
        return { text: `Hello, ${name}.` };
      },
    }),
  },
});

await using octant = createOctant({
  projectPath: import.meta.dirname,
  tools: ["fs"],
  customTools: [greeter],
});
console.log((await octant.client.greeter.greet({ name: "Ada" })).text);

// The answer as a model gets it: the same envelope for every success and every failure.
const { envelope } = await octant.dispatch(
  { tool: "greeter", action: "greet", input: { name: "Nobody" } },
  { caller: { id: "example", access: "read" } },
);
console.log(envelope.error?.code);
