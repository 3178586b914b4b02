// The whole agent in your own process: tools, rules, session and MCP servers as `octant run` has them.
// The model here plays a script; leave out `env`, and the agent uses your own account.
import { openAgent } from "@octant/app";
import { createScriptedProvider } from "@octant/scripted-provider";

await using model = await createScriptedProvider([
  { parts: [{ call: "fs", input: { action: "read", uri: "README.md" } }] },
  { parts: [{ text: "These are examples." }] },
]);

await using opened = await openAgent({
  roots: [import.meta.dirname],
  env: { ...process.env, ANTHROPIC_API_KEY: "sk-example", ANTHROPIC_BASE_URL: model.baseUrl("anthropic") },
  limits: { max_turns: 5 },
});
opened.agent.subscribe((event) => {
  if (event.type === "tool_began") console.log(event.title);
  if (event.type === "message")
    for (const part of event.message.content) if (part.type === "text") console.log(part.text);
});
const { reason, turns } = await opened.agent.send("What is in this folder?");
console.log(`${reason} after ${turns} turns`);
