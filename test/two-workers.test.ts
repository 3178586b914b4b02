import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createNatsClient } from "@octant/wire";
import { expect, inject, onTestFinished, test } from "vitest";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";

const caller = { id: "me", access: "admin" } as const;
const PROJECT = "shop";

/** A worker of the same project in a clone of its own. */
async function startWorker(url: string) {
  const project = createFixtureProject();
  onTestFinished(() => project[Symbol.dispose]());
  const args = ["worker", "--nats", url, "--project", PROJECT, "--json"];
  const child = startOctant(args, { cwd: project.root, env: project.env });
  const exit = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exit;
  });
  const said = createInterface({ input: child.stderr });
  const lines: string[] = [];
  said.on("line", (line) => lines.push(line));
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return {
    root: project.root,
    state: JSON.parse(String(line)).state,
    lines,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Resolves when it has said something like this. */
    said: async (words: string) => {
      while (!lines.some((one) => one.includes(words))) await once(said, "line");
    },
  };
}

test.skipIf(inject("missing").includes("nats-server"))(
  "of two workers one has the project, whatever happens to the other: every caller reads its own writes",
  async () => {
    const nats = await startNatsServer();
    onTestFinished(() => nats.stop());
    const first = await startWorker(nats.url);
    const second = await startWorker(nats.url);
    expect([first.state, second.state]).toEqual(["active", "standby"]);
    expect(second.lines.join("\n")).toContain(`stands by for ${PROJECT}`);
    const client = await createNatsClient({ url: nats.url, project: PROJECT });
    onTestFinished(() => client.close());
    const call = async (tool: string, action: string, input: object) =>
      (await client.dispatch({ tool, action, input }, { caller })).envelope;

    let files = 0;
    const readsOwnWrites = async (count: number) => {
      let own = 0;
      for (let n = 0; n < count; n++) {
        const uri = `own-${files++}.txt`;
        let written = await call("fs", "write", { uri, content: uri });
        // It was on its way to a worker that died.
        if (written.error?.code === "INTERRUPTED") written = await call("fs", "write", { uri, content: uri });
        const read = await call("fs", "read", { uri });
        if (written.ok && read.ok && (read.data as { text: string }).text === uri) own += 1;
      }
      return own;
    };
    const owner = async () => {
      const { data } = await call("proc", "exec", { command: "pwd" });
      return (data as { stdout: string }).stdout.trim();
    };
    expect(await readsOwnWrites(20)).toBe(20);
    expect(await owner()).toBe(first.root);

    // One that only pauses loses the project, and does not answer with its own state when it is back.
    first.kill("SIGSTOP");
    const stuck = call("fs", "read", { uri: "own-0.txt" });
    await second.said("took over");
    expect(await stuck).toMatchObject({ error: { code: "INTERRUPTED" } });
    first.kill("SIGCONT");
    await first.said("lost");
    expect(await readsOwnWrites(20)).toBe(20);
    expect(await owner()).toBe(second.root);
    expect(await call("fs", "read", { uri: "own-0.txt" })).toMatchObject({ error: { code: "NOT_FOUND" } });

    // Calls wait for the successor of one that died, and jobs run there.
    const job_id = await client.enqueue(
      { tool: "proc", action: "exec", input: { command: "sleep 1; pwd" } },
      { caller },
    );
    second.kill("SIGKILL");
    expect(await readsOwnWrites(20)).toBe(20);
    expect(await owner()).toBe(first.root);
    // It had begun, or the successor ran it: never both.
    const polled = JSON.stringify((await call("job", "poll", { job_id, wait: 40_000 })).data);
    expect([join(first.root), "INTERRUPTED"].filter((end) => polled.includes(end))).toHaveLength(1);
  },
  120_000,
);
