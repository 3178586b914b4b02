// The agent in your own process. The model here is your own function; createApiClient creates real ones:
//   createApiClient({ provider: "anthropic", model: "claude-sonnet-4-5", credentials: keyCredentials("anthropic",
// key) })
import {
  Agent,
  type ApiClient,
  createCallPrompter,
  createDispatchExecutor,
  findModel,
  NO_USAGE,
  Session,
  textOf,
} from "@octant/agent";
import { createOctant } from "@octant/app";
import { pathToUri } from "@octant/host";

/** Reads the file README.md, then reports its first line. */
const client: ApiClient = {
  model: findModel("example", "reader"),
  async *send({ messages }) {
    const last = messages.at(-1);
    if (last?.role !== "tool") {
      const call = {
        type: "tool_call",
        id: "1",
        name: "fs",
        arguments: '{"action":"read","uri":"README.md"}',
      } as const;
      yield {
        type: "done",
        message: { role: "assistant", content: [call] },
        stop: "tool_calls",
        usage: NO_USAGE,
      };
      return;
    }
    const [line = ""] = textOf(last.results[0]?.content ?? []).split("\n", 1);
    const text = `It begins with: ${line}`;
    yield { type: "text_delta", text };
    yield {
      type: "done",
      message: { role: "assistant", content: [{ type: "text", text }] },
      stop: "end",
      usage: NO_USAGE,
    };
  },
};

const prompter = createCallPrompter();
await using octant = createOctant({
  projectPath: import.meta.dirname,
  permissions: "enforce",
  prompter: prompter.prompter,
});
const tools = createDispatchExecutor({
  host: {
    ...octant,
    jobs: octant.workspace.jobs,
    roots: octant.workspace.confinement.roots.map(pathToUri),
  },
  prompter,
});
// Approvals are asked for here; without a prompter such actions are refused.
const agent = new Agent({ client, tools, session: new Session({ id: "example" }), system: "Be brief." });
agent.subscribe((event) => {
  if (event.type === "tool_began") console.log(event.title);
  if (event.type === "text_delta") console.log(event.text);
});
const { reason, turns } = await agent.send("How does the README begin?");
console.log(`${reason} after ${turns} turns`);
await agent.close();
