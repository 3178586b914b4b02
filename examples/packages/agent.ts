import { createApiClient, keyCredentials, textOf } from "@octant/agent";
import { createScriptedProvider } from "@octant/scripted-provider";

// A scripted model in place of a real one; leave out `base_url` to reach Anthropic.
await using model = await createScriptedProvider([{ parts: [{ text: "Hello!" }] }]);
const client = createApiClient({
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  credentials: keyCredentials("anthropic", "a key"),
  base_url: model.baseUrl("anthropic"),
});
const messages = [{ role: "user", origin: "person", content: [{ type: "text", text: "Hi" }] }] as const;
for await (const event of client.send({ system: "", tools: [], messages }, AbortSignal.timeout(10_000)))
  if (event.type === "done") console.log(textOf(event.message.content));
