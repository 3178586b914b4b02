import { once } from "node:events";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { openAgent, planUndo } from "@octant/app";
import type { Ask, QuestionAnswer } from "@octant/core";
import { createScriptedProvider, type Script, type ScriptedRequest } from "@octant/scripted-provider";
import { describe, expect, test } from "vitest";
import { AGENT_HOSTS, type AgentHost, placeSession } from "./agent-hosts.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";

const FILE = "src/main.ts";
const hashIn = ({ results }: ScriptedRequest) => /\b[0-9a-f]{12}\b/.exec(results[0]?.text ?? "")?.[0];

/** Calls that need a permission, and change the same file. */
const CALLS = {
  edit: (request: ScriptedRequest) => ({
    call: "fs",
    input: {
      action: "apply_patch",
      uri: FILE,
      base_hash: hashIn(request),
      patch: [{ op: "replace", old: "42", new: "43" }],
    },
  }),
  command: () => ({ call: "proc", input: { action: "exec", command: `sed -i s/42/43/ ${FILE}` } }),
};
type CallName = keyof typeof CALLS;

const toScript =
  (name: CallName): Script =>
  (request) => {
    if (request.answers === 0) return { parts: [{ call: "fs", input: { action: "read", uri: FILE } }] };
    return { parts: [request.answers === 1 ? CALLS[name](request) : { text: "done" }] };
  };

const CASES = AGENT_HOSTS.flatMap((host) => (["edit", "command"] as const).map((call) => ({ host, call })));

/** The rows of every list of checkpoints below the state folder, as SQLite itself reads them. */
function countRows({ env }: FixtureProject): Record<"checkpoints" | "turns", number> {
  const count = { checkpoints: 0, turns: 0 };
  for (const file of globSync(`${env["XDG_STATE_HOME"]}/**/checkpoints.sqlite`)) {
    using database = new DatabaseSync(file, { readOnly: true });
    for (const table of ["checkpoints", "turns"] as const)
      count[table] += Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"]);
  }
  return count;
}

const NONE = { checkpoints: 0, turns: 0 };

/** The session's marks of turns. */
const marksIn = ({ env }: FixtureProject): number =>
  globSync(`${env["XDG_STATE_HOME"]}/**/*.jsonl`)
    .map((file) => readFileSync(file, "utf8").match(/"name":"checkpoint"/g)?.length ?? 0)
    .reduce((sum, count) => sum + count, 0);

async function openSession(host: AgentHost, call: CallName, project: FixtureProject, ask: Ask) {
  const place = await placeSession(host, project);
  const provider = await createScriptedProvider(toScript(call));
  const agent = await openAgent({
    roots: [project.root],
    env: { ...project.env, ...accountAt(provider) },
    provider: "anthropic",
    model: "m",
    host: await place.connect(),
    ask,
  });
  return {
    ...agent,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

describe.each(CASES)("a question about the $call on a $host host", ({ host, call }) => {
  test("leaves no checkpoint while it waits and when it is denied", async () => {
    using project = createFixtureProject();
    const whileAsked: object[] = [];
    await using session = await openSession(host, call, project, async () => {
      whileAsked.push(countRows(project));
      return { answer: "deny" };
    });
    await session.agent.send([{ type: "text", text: "make it" }]);
    expect(whileAsked).toEqual([NONE]);
    expect(countRows(project)).toEqual(NONE);
    expect(marksIn(project)).toBe(0);
  });

  test("leaves no checkpoint when the run is cancelled meanwhile", async () => {
    using project = createFixtureProject();
    const asked = Promise.withResolvers<void>();
    await using session = await openSession(host, call, project, () => {
      asked.resolve();
      return new Promise<QuestionAnswer>(() => {});
    });
    const running = session.agent.send([{ type: "text", text: "make it" }]);
    await asked.promise;
    await session.agent.cancel();
    await running;
    expect(countRows(project)).toEqual(NONE);
    expect(marksIn(project)).toBe(0);
  });

  test("leaves no checkpoint when the session is killed meanwhile", async () => {
    using project = createFixtureProject();
    await using place = await placeSession(host, project);
    await using provider = await createScriptedProvider(toScript(call));
    const flags = ["--input-json", "--stream-json", "--provider", "anthropic", "--model", "m"];
    const child = startOctant(["run", "make it", ...flags, ...place.flags], {
      cwd: place.cwd,
      env: { ...project.env, ...accountAt(provider) },
    });
    for await (const line of createInterface({ input: child.stdout }))
      if (JSON.parse(line).type === "question") break;
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(countRows(project)).toEqual(NONE);
  });

  test("an allowed call is undone exactly; what the person changed while it waited stays", async () => {
    using project = createFixtureProject();
    const at = (path: string) => join(project.root, path);
    const read = (path: string) => readFileSync(at(path), "utf8");
    let asked = 0;
    await using session = await openSession(host, call, project, async () => {
      asked += 1;
      writeFileSync(at("README.md"), "mine\n");
      // An edit of a file that has changed since it was read is refused; a command takes it as it is.
      if (call === "command") writeFileSync(at(FILE), "// mine: 42\n");
      return { answer: "once" };
    });
    const before = call === "command" ? "// mine: 42\n" : read(FILE);
    await session.agent.send([{ type: "text", text: "make it" }]);
    expect(asked).toBe(1);
    expect(read(FILE)).toBe(before.replace("42", "43"));
    expect(marksIn(project)).toBe(1);
    const plan = await planUndo(session.host.turns, "undo");
    expect(plan).toMatchObject({ conflicts: [], restored: [{ path: FILE, change: "restored" }] });
    await plan.apply({ overwrite: false });
    expect(read(FILE)).toBe(before);
    expect(read("README.md")).toBe("mine\n");
  });
});

test.each(AGENT_HOSTS)(
  "an edit of a file that the person changed while the question waited is refused on a %s host, and nothing is to undo",
  async (host) => {
    using project = createFixtureProject();
    const file = join(project.root, FILE);
    await using session = await openSession(host, "edit", project, async () => {
      writeFileSync(file, "// mine: 42\n");
      return { answer: "once" };
    });
    await session.agent.send([{ type: "text", text: "make it" }]);
    expect(readFileSync(file, "utf8")).toBe("// mine: 42\n");
    expect(await session.host.turns.list()).toEqual([]);
  },
);
