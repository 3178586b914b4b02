// A tool that is added and removed while clients are connected.
import { createOctant } from "@octant/app";
import { action, defineTool } from "@octant/core";
import { z } from "zod";

const clock = defineTool({
  name: "clock",
  summary: "Tell the time.",
  actions: {
    now: action({
      summary: "The time in UTC.",
      access: "read",
      timing: "sync",
      intent: "inspect",
      input: z.strictObject({}),
      output: z.object({ time: z.string() }),
      examples: [{ title: "Now", input: {} }],
      run: () => ({ time: new Date().toISOString() }),
    }),
  },
});

await using octant = createOctant({ projectPath: import.meta.dirname, tools: ["fs"] });
const names = () => octant.registry.list().map(({ name }) => name);
console.log(names().join(", "));
// Connected clients are notified by tools/list_changed.
octant.addTool(clock);
console.log(names().join(", "));
octant.removeTool("clock");
console.log(names().join(", "));
