import { once } from "node:events";
import { copyFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createFixtureProject } from "../../test/fixture-project.ts";
import { type ServedProject, serveProject } from "./processes-server.ts";
import type { Report, Torture } from "./report.ts";

const MAX_LATE_MS = 2_000;
const LISTENER = join(import.meta.dirname, "processes-late-listener.ts");
const NPM_ENV = { npm_config_update_notifier: "false" };

/** Starts `npm run dev` repeatedly, waits for its text or its port, and requests a page. */
export const devServer: Torture = async (count, _random, onProgress) => {
  using project = createFixtureProject();
  copyFileSync(LISTENER, join(project.root, "listener.ts"));
  await using server = await serveProject(project);
  const violations: string[] = [];
  let latestMs = 0;
  for (let round = 0; round < count; round++) {
    for (const by of ["text", "port"] as const) {
      const port = await findFreePort();
      const scripts = { dev: `"${process.execPath}" listener.ts ${port}` };
      writeFileSync(join(project.root, "package.json"), JSON.stringify({ type: "module", scripts }));
      const { lateMs, wrong } = await startAndAsk(server, port, by);
      latestMs = Math.max(latestMs, lateMs);
      violations.push(...wrong.map((what) => `wait_for ${by}: ${what}`));
    }
    onProgress(round + 1);
  }
  return {
    what: `${count} starts of \`npm run dev\`, each by text and by port`,
    facts: `exec answered ${latestMs} ms after it was ready at the latest`,
    violations,
  } satisfies Report;
};

async function startAndAsk(server: ServedProject, port: number, by: "text" | "port") {
  const wait_for = by === "text" ? { pattern: "listening since" } : { port };
  const { proc_id, ready } = await server.data("proc", "exec", {
    command: "npm run dev",
    env: NPM_ENV,
    wait_for,
  });
  const answeredAt = Date.now();
  const page = await fetchText(port);
  const { text } = await server.data("proc", "logs", { proc_id });
  const { status } = await server.data("proc", "kill", { proc_id });
  const lateMs = answeredAt - Number(/listening since (\d+)/.exec(text)?.[1] ?? Number.NaN);
  const wrong = [
    ...(ready === true ? [] : [`ready is ${ready}`]),
    ...(page === "hello" ? [] : [`the page is '${page}'`]),
    ...(lateMs <= MAX_LATE_MS ? [] : [`answered ${lateMs} ms after it was ready`]),
    ...(status === "killed" ? [] : [`after proc.kill it is ${status}`]),
    ...((await fetchText(port)).startsWith("failed") ? [] : ["after proc.kill it still answers"]),
  ];
  return { lateMs, wrong };
}

const fetchText = (port: number): Promise<string> =>
  fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } }).then(
    (response) => response.text(),
    (cause) => `failed: ${cause}`,
  );

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo; // It listens on TCP.
  probe.close();
  await once(probe, "close");
  return port;
}
