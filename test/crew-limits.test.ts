import { createScriptedProvider, type Script, type ScriptedTurn } from "@octant/scripted-provider";
import { describe, expect, test } from "vitest";
import { AGENT_HOSTS, type AgentHost, placeSession } from "./agent-hosts.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { callOctant } from "./octant-in-process.ts";
import { accountAt } from "./scripted-account.ts";

/** A cent per answer at the price of claude-sonnet-4-5. */
const CENT = { input: 3_333, cached: 0, output: 1 };
const answer = (text: string): ScriptedTurn => ({ parts: [{ text }], usage: CENT });
const call = (tool: string, input: object): ScriptedTurn => ({
  parts: [{ call: tool, input: { ...input } }],
  usage: CENT,
});

/** Runs the agent with a model that has a price. */
async function runAgent(host: AgentHost, script: Script, ...args: string[]) {
  using project = createFixtureProject();
  await using place = await placeSession(host, project);
  await using provider = await createScriptedProvider(script);
  const model = ["--provider", "anthropic", "--model", "claude-sonnet-4-5"];
  const ran = await callOctant(["run", ...args, ...model, "--allow", "*", "--json", ...place.flags], {
    cwd: place.cwd,
    env: { ...project.env, ...accountAt(provider) },
  });
  return { ...ran, requests: provider.requests.length };
}

const isChild = (system: string) => system.includes("# Role");

describe.each(AGENT_HOSTS)("with a %s host", (host) => {
  test("the spending of sub-agents counts towards the run that started them, in its cost and its turns", async () => {
    const ran = await runAgent(
      host,
      ({ system, answers }) => {
        if (isChild(system)) return answer("found it");
        return answers === 0
          ? call("agent", { action: "spawn", role: "explore", task: "look" })
          : answer("done");
      },
      "go",
      "--tools",
      "agent,fs",
    );
    expect(ran.code, ran.stderr).toBe(0);
    const { cost, turns } = JSON.parse(ran.stdout);
    expect(turns).toBe(3);
    expect(cost).toBeCloseTo(0.03, 3);
  });

  test.each([
    ["--max-cost", "0.035", "max_cost"],
    ["--max-turns", "4", "max_turns"],
  ])("%s ends a sub-agent that would run forever, and then the run", async (flag, limit, reason) => {
    let reads = 0;
    const ran = await runAgent(
      host,
      ({ system, answers }) => {
        if (!isChild(system))
          return answers === 0
            ? call("agent", { action: "spawn", role: "explore", task: "look" })
            : answer("the parent goes on");
        reads += 1;
        return call("fs", { action: "list", uri: ".", depth: reads });
      },
      "go",
      "--tools",
      "agent,fs",
      flag,
      limit,
    );
    expect(ran.code, ran.stderr).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({ reason });
    // One of the parent, and those of the sub-agent up to the limit; a running answer may exceed it.
    expect(ran.requests).toBeLessThanOrEqual(6);
  });

  test("a limit also applies to the sub-agents of a command, without any run of its own", async () => {
    let reads = 0;
    const ran = await runAgent(
      host,
      () => {
        reads += 1;
        return call("fs", { action: "list", uri: ".", depth: reads });
      },
      "/solve what is wrong",
      "--max-cost",
      "0.035",
    );
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain("max_cost of all sub-agents is reached (0.035)");
    expect(ran.requests).toBeLessThanOrEqual(6);
  });

  test("a tool that asks a model without a price ends a run with a limit of cost", async () => {
    const ran = await runAgent(
      host,
      ({ user, answers }) => {
        if (user === "opinion") return answer("fine");
        return answers === 0
          ? call("llm", { action: "query", prompt: "opinion", model: "anthropic/unknown-model" })
          : call("fs", { action: "list", uri: ".", depth: answers });
      },
      "go",
      "--tools",
      "llm,fs",
      "--max-cost",
      "0.035",
    );
    expect(ran.code, ran.stderr).toBe(3);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      reason: "max_cost",
      cost: null,
      message: expect.stringContaining("a tool used a model whose price is unknown"),
    });
  });
});
