import { expect, test } from "vitest";
import { Agent } from "../agent.ts";
import { Session } from "../session.ts";
import { createScriptedClient, text } from "../testing/scripted-client.ts";
import { createTestTools } from "../testing/tools.ts";
import { Crew } from "./crew.ts";
import type { CrewLimits } from "./crew-limits.ts";
import { parseRole, ROLES } from "./roles.ts";

let made = 0;

/** Members answer at once, or wait until they are cancelled. */
function setUp(limits: Partial<CrewLimits>, isSlow = false) {
  return new Crew({
    roles: () => ROLES,
    limits,
    async create() {
      made += 1;
      const client = createScriptedClient(Array.from({ length: 9 }, () => [text("report")]));
      const send: typeof client.send = isSlow
        ? async function* (_request, signal) {
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
            signal.throwIfAborted();
            yield* [];
          }
        : client.send;
      const session = new Session({ id: `ses_${made}` });
      const agent = new Agent({ client: { ...client, send }, tools: createTestTools({}), session });
      return { agent, close: () => agent.close() };
    },
  });
}

const explore = { role: "explore", task: "look" };
const refused = (limit: number) => ({ code: "LIMIT_EXCEEDED", details: { limit } });

test("depth is counted from the root, through every generation", async () => {
  const crew = setUp({ max_depth: 2 }, true);
  const child = await crew.spawn(explore, "root");
  const grandchild = await crew.spawn(explore, child.session_id);
  expect(grandchild.depth).toBe(2);
  await expect(crew.spawn(explore, grandchild.session_id)).rejects.toMatchObject(refused(2));
  await crew.close();
  expect(crew.list().map(({ state }) => state)).toEqual(["terminated", "terminated"]);
});

test("concurrent members, total members and turns are counted over the whole tree", async () => {
  const atOnce = setUp({ max_at_once: 2 }, true);
  const first = await atOnce.spawn(explore, "root");
  await atOnce.spawn(explore, first.session_id);
  await expect(atOnce.spawn(explore, "root")).rejects.toMatchObject(refused(2));
  await atOnce.close();

  const inAll = setUp({ max_agents: 1 });
  const { agent_id } = await inAll.spawn(explore, "root");
  const waiting = { parent: "root", until: "all", ms: 30_000, signal: new AbortController().signal } as const;
  expect(await inAll.await([agent_id], waiting)).toMatchObject([{ state: "done", report: "report" }]);
  await expect(inAll.spawn(explore, "root")).rejects.toMatchObject(refused(1));
  await inAll.close();

  const turns = setUp({ max_turns: 1 });
  const one = await turns.spawn(explore, "root");
  await turns.await([one.agent_id], waiting);
  await expect(turns.spawn(explore, "root")).rejects.toMatchObject(refused(1));
  await turns.close();
});

test("a handle of another tree is unknown, and stopping a member stops its descendants", async () => {
  const crew = setUp({}, true);
  const child = await crew.spawn(explore, "root");
  const grandchild = await crew.spawn(explore, child.session_id);
  await expect(crew.terminate(child.agent_id, "stranger")).rejects.toMatchObject({ code: "NOT_FOUND" });
  await crew.terminate(child.agent_id, "root");
  expect(crew.list("root").find(({ agent_id }) => agent_id === grandchild.agent_id)).toMatchObject({
    state: "terminated",
  });
  await crew.close();
});

test("a project's role gets the narrowest access by default", () => {
  expect(parseRole("scribe", "Write well.\n")).toMatchObject({ access: "read", max_turns: 40 });
  expect(
    parseRole("scribe", "---\nsummary: Writes\naccess: write\ntools: fs, code\nmax_turns: 5\n---\nWrite.\n"),
  ).toEqual({
    name: "scribe",
    summary: "Writes",
    prompt: "Write.",
    access: "write",
    tools: ["fs", "code"],
    max_turns: 5,
  });
  expect(parseRole("admin", "---\naccess: admin\n---\nRule.\n")).toMatchObject({ access: "read" });
  expect(parseRole("empty", "---\naccess: write\n---\n")).toBeUndefined();
});
