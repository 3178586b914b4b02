import { createFixtureProject, type FixtureProject } from "../../test/fixture-project.ts";
import { runOctant } from "../../test/octant-process.ts";
import { CROWD_SIZE, createCrowd, MIN_CROWD_PROCESSES } from "./processes-crowd.ts";
import { type ServedProject, serveProject } from "./processes-server.ts";
import { listMarked, untilEmpty } from "./processes-table.ts";
import type { Report, Torture } from "./report.ts";

interface Limits {
  /** Until the server is gone. */
  readonly exitMs: number;
  /** Until all of its processes are gone. */
  readonly treeMs: number;
}

const WAYS: Readonly<Record<string, (server: ServedProject) => void>> = {
  "closed stdin": (server) => server.closeInput(),
  SIGTERM: ({ pid }) => process.kill(pid, "SIGTERM"),
  SIGINT: ({ pid }) => process.kill(pid, "SIGINT"),
  SIGHUP: ({ pid }) => process.kill(pid, "SIGHUP"),
};

/** Ends servers with ten jobs in every graceful way, and one-shot commands that leave something behind. */
export const endings: Torture = (...args) => endWithin({ exitMs: 1_000, treeMs: 2_000 })(...args);

/** The same with other limits, for machines that other work keeps busy. */
export const endWithin =
  ({ exitMs, treeMs }: Limits): Torture =>
  async (count, _random, onProgress) => {
    using project = createFixtureProject();
    // The very first server writes its compile cache when it ends; later ones have it.
    await (await serveProject(project))[Symbol.asyncDispose]();
    const violations: string[] = [];
    const slowest = { exit: 0, tree: 0 };
    for (let round = 0; round < count; round++) {
      for (const [way, end] of Object.entries(WAYS)) {
        const server = await serveProject(project);
        const crowd = createCrowd();
        const { length } = await crowd.start(server);
        const before = crowd.remember(server);
        if (length !== CROWD_SIZE || before < MIN_CROWD_PROCESSES)
          violations.push(`${way}: only ${length} jobs with ${before} processes, so nothing was shown`);
        const start = performance.now();
        const tree = untilEmpty(crowd.running, treeMs);
        end(server);
        const goneMs = await server.gone(exitMs);
        const { left } = await tree;
        slowest.exit = Math.max(slowest.exit, goneMs);
        slowest.tree = Math.max(slowest.tree, performance.now() - start);
        if (goneMs > exitMs) violations.push(`${way}: the server was there after ${exitMs} ms`);
        for (const { name } of left) violations.push(`${way}: ${name} was there after ${treeMs} ms`);
        await server[Symbol.asyncDispose]();
      }
      violations.push(...(await leaveBehind(project, `one-shot-${round}`, treeMs)));
      onProgress(round + 1);
    }
    return {
      what: `${count} ends of each kind (${Object.keys(WAYS).join(", ")}, a one-shot command)`,
      facts: `exit after ${slowest.exit.toFixed(0)} ms, whole tree gone after ${slowest.tree.toFixed(0)} ms at the latest`,
      violations,
    } satisfies Report;
  };

/** A command that ends by itself also ends its background processes. */
async function leaveBehind(
  { root, env }: FixtureProject,
  mark: string,
  treeMs: number,
): Promise<readonly string[]> {
  const input = {
    command: "setsid sleep 1000 >/dev/null 2>&1 & echo $!",
    env: { OCTANT_TORTURE: mark },
  };
  const { code, stdout } = await runOctant(["call", "proc.exec", JSON.stringify(input)], { cwd: root, env });
  if (code !== 0 || !/^ *\d+$/m.test(stdout)) return [`octant call ended with ${code}: ${stdout}`];
  const { left } = await untilEmpty(() => listMarked(`OCTANT_TORTURE=${mark}`), treeMs);
  return left.map(({ name }) => `octant call: ${name} was there after ${treeMs} ms`);
}
