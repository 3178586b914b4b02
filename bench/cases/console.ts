import { setTimeout as delay } from "node:timers/promises";
import { connectTo, listSockets } from "@octant/app";
import type { Bench, Case } from "../case.ts";
import { cpuOf } from "../cpu-time.ts";
import { type RpcServer, toCallLine } from "../json-rpc.ts";
import { interleave } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

const CALLS = 2_000;
const WIDTH = 20;
const MAX_TRIES = 100;
const MS_PER_TRY = 50;
const NAME = "calls while a console looks";

export const consoles: readonly Case[] = [{ name: NAME, run: attended }];

/** The CPU time of a server that a console attends, against one that nobody looks at. */
async function attended({ startOctant, sockets, effort, random }: Bench): Promise<Row> {
  await using seen = await startOctant();
  await using unseen = await startOctant();
  using client = await lookAt(seen, sockets);
  let listed = 0;
  await client.attend(({ events }) => {
    listed += events.length;
  });
  const { octant, noOp } = await interleave(
    { octant: () => burst(seen), noOp: () => burst(unseen) },
    effort,
    random,
  );
  if (listed === 0) throw new Error("the console saw no call");
  const note = `CPU of ${CALLS} calls of job.status, as fast as they are answered, to the same unattended`;
  return { name: NAME, unit: "ms", octant, noOp, figure: octant.p50 / noOp.p50, bar: atMost(1.1), note };
}

/** A server opens its control socket after its first call, when it is idle. */
async function lookAt(server: RpcServer, sockets: string) {
  await burst(server);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const name = listSockets(sockets).find((socket) => socket.startsWith(`${server.pid}-`));
    const client = name === undefined ? undefined : await connectTo(sockets, name);
    if (client) return client;
    await delay(MS_PER_TRY);
  }
  throw new Error(`the server has no control socket in ${sockets}`);
}

async function burst(server: RpcServer): Promise<number> {
  const before = cpuOf(server.pid);
  const lines = Array.from({ length: CALLS }, (_, n) => toCallLine("job", { action: "status" }, n + 1));
  await server.stream(lines, WIDTH);
  return cpuOf(server.pid) - before;
}
