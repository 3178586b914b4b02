// The agent in your own process, with a model that plays a script; leave out `env`, and it uses your own account.
import { createAgent } from "@octant/app";
import { createScriptedProvider } from "@octant/scripted-provider";

await using model = await createScriptedProvider([
  { parts: [{ call: "fs", input: { action: "read", uri: "README.md" } }] },
  { parts: [{ text: "These are examples." }] },
]);

await using agent = createAgent({
  cwd: import.meta.dirname,
  env: { ...process.env, ANTHROPIC_API_KEY: "sk-example", ANTHROPIC_BASE_URL: model.baseUrl("anthropic") },
  limits: { max_turns: 5 },
});
for await (const event of agent.run("What is in this folder?")) {
  if (event.type === "tool_began") console.log(event.title);
  if (event.type === "result") console.log(`${event.reason} after ${event.turns} turns: ${event.text}`);
}
