import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWav } from "../../packs/music/src/audio/wav.ts";
import { createGardenProcess } from "../../packs/music/src/garden/process.ts";
import type { Bench, Case } from "../case.ts";
import { interleave, timed } from "../measure.ts";
import { atMost, type Row } from "../row.ts";

export const garden: readonly Case[] = [{ name: "garden play", run: gardenPlay }];

const SOUND_SECONDS = 60;
const RATE = 44_100;

/** From the request to the answer, which comes when the first frames of the mix were written. */
async function gardenPlay({ effort, random }: Bench): Promise<Row> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-bench-garden-")));
  const process = createGardenProcess(folder);
  const ctx = { signal: new AbortController().signal };
  try {
    const wav = encodeWav({ rate: RATE, channels: [new Float32Array(SOUND_SECONDS * RATE).fill(0.1)] });
    const upload = {
      mime: "audio/wav",
      size: wav.length,
      async *read() {
        for (let at = 0; at < wav.length; at += 16_384) yield wav.subarray(at, at + 16_384);
      },
    };
    await process.call("create_region", { beat: 0, name: "tone" }, ctx, { upload });
    const play = async () => {
      const ms = await timed(() => process.call("play", { output: "file" }, ctx));
      await process.call("stop", {}, ctx);
      return ms;
    };
    const { octant } = await interleave({ octant: play }, effort, random);
    const note =
      "request to first frames written, over HOOT01 to the garden's process; the 95th percentile counts";
    return { name: "garden play", unit: "ms", octant, figure: octant.p95, bar: atMost(20), note };
  } finally {
    await process.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
