import { createScriptedProvider } from "@octant/scripted-provider";

await using provider = await createScriptedProvider([{ parts: [{ text: "Hello!" }] }]);
const response = await fetch(`${provider.baseUrl("openai-chat")}/chat/completions`, {
  method: "POST",
  headers: { authorization: "Bearer a-key", "content-type": "application/json" },
  body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] }),
});
console.log(/"content":"([^"]+)"/.exec(await response.text())?.[1]);
console.log(provider.requests[0]?.user);
