import { measurePeers } from "../agent-peers.ts";
import { createAgentBench } from "../agent-start.ts";
import type { Case } from "../case.ts";
import { toSpread } from "../measure.ts";
import type { Row } from "../row.ts";

const STARTS = 3;
const KB = 1_000;

/** The first request beside those of other agents, in one run on one machine. */
export const agentPeers: readonly Case[] = [{ name: "agent: peers", run: besidePeers }];

async function besidePeers(): Promise<Row> {
  await using bench = await createAgentBench(() => ({ parts: [{ text: "Hello." }] }));
  let bytes = 0;
  const samples: number[] = [];
  for (let at = 0; at < STARTS; at++)
    samples.push(
      await bench.run(["hello"], ({ raw }) => {
        bytes = Buffer.byteLength(raw);
      }),
    );
  const octant = toSpread(samples);
  const note = `a first request of ${(bytes / KB).toFixed(1)} kB; ${await measurePeers()}`;
  return { name: "agent: peers", unit: "ms", octant, figure: octant.p50, note };
}
