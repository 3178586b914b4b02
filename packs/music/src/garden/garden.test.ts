import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createZmqClient, parseMsgPack } from "@octant/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Subscriber } from "zeromq";
import { type Music, openMusic } from "../../testing/open-music.ts";
import { encodeWav, readWav } from "../audio/wav.ts";
import type { Region } from "./schemas.ts";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 4);
const RATE = 44_100;
const toneOf = (seconds: number, level: number) =>
  encodeWav({ rate: RATE, channels: [new Float32Array(Math.round(seconds * RATE)).fill(level)] });

let music: Music;
let sound: string;
beforeAll(async () => {
  music = await openMusic();
  sound = await store(toneOf(0.2, 0.25), "tone.wav");
});
afterAll(async () => {
  expect(music.bugs).toEqual([]);
  await music[Symbol.asyncDispose]();
});

async function store(wav: Buffer, name: string): Promise<string> {
  const content = wav.toString("base64");
  const { artifact } = await music.call("artifact.upload", { name, content, encoding: "base64" });
  return artifact.artifact_id;
}
const regionsNow = async (): Promise<Region[]> => (await music.call("garden.get_regions")).regions;
async function clear(): Promise<void> {
  await music.call("garden.stop");
  for (const { region_id } of await regionsNow()) await music.call("garden.delete_region", { region_id });
}
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
const addressNow = () => `ipc://${music.context.folder}/run/s`;

test("regions are played to a WAV artifact that is their sum, and the job tells position and completion", async () => {
  await music.call("garden.set_tempo", { bpm: 600 });
  const { region } = await music.call("garden.create_region", { source: sound, beat: 0 });
  await music.call("garden.create_region", { source: sound, beat: 1, gain: 2, name: "second" });
  expect(region).toMatchObject({ name: "tone.wav", beat: 0, seconds: 0.2 });
  expect((await music.call("garden.get_regions", { start: 2.5, end: 9 })).regions).toMatchObject([
    { name: "second" },
  ]);
  const positions: number[] = [];
  const played = await music.call(
    "garden.play",
    {},
    { onProgress: ({ progress }) => positions.push(progress) },
  );
  expect(played).toMatchObject({ ended: "complete", artifact: { name: "garden.wav" } });
  expect(positions.toSorted((a, b) => a - b)).toEqual(positions);
  const mix = readWav(await music.bytesOf(played.artifact));
  const at = (seconds: number) => mix.channels[0]?.[Math.round(seconds * RATE)];
  // Alone, together with the second one that begins at 0.1 s, the second alone, and silence.
  expect([at(0.05), at(0.15), at(0.25)].map((level) => level?.toFixed(2))).toEqual(["0.25", "0.75", "0.50"]);
  expect(at(0.301) ?? 0).toBe(0);
  expect(await music.call("garden.status")).toMatchObject({
    state: "stopped",
    beat: 0,
    bpm: 600,
    regions: 2,
  });
  await clear();
});

test("nothing to play is NOT_FOUND, and an unknown region too", async () => {
  expect((await music.call("garden.play")).failed).toBe("NOT_FOUND");
  const region_id = "region_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
  expect((await music.call("garden.move_region", { region_id, beat: 1 })).failed).toBe("NOT_FOUND");
  expect((await music.call("garden.delete_region", { region_id })).failed).toBe("NOT_FOUND");
});

test("a subscriber of the broadcast sees the position and the end of a playback", async () => {
  await music.call("garden.create_region", { source: await store(toneOf(0.4, 0.1), "long.wav"), beat: 0 });
  const subscriber = new Subscriber();
  subscriber.connect(`${addressNow()}.pub`);
  subscriber.subscribe("job/play_");
  const seen: { event: string; state?: string; chunk?: { progress: number } }[] = [];
  const reading = (async () => {
    for await (const frames of subscriber) {
      // The topic, then the seven frames of a message, whose last is its body.
      const event = parseMsgPack(frames[7] ?? Buffer.alloc(0)) as (typeof seen)[number];
      seen.push(event);
      if (event.state === "complete") return;
    }
  })();
  // A subscription takes a moment to arrive; playing again until it is heard needs no clock.
  while (!seen.some(({ state }) => state === "complete")) await music.call("garden.play");
  await reading;
  subscriber.close();
  expect(seen.some(({ chunk }) => chunk !== undefined && chunk.progress > 0)).toBe(true);
  await clear();
});

test("emergency_pause goes ahead of all queued work, and that work never runs", async () => {
  const { region } = await music.call("garden.create_region", {
    source: await store(toneOf(30, 0.1), "half.wav"),
    beat: 0,
  });
  const playing = music.call("garden.play");
  await expect.poll(async () => (await music.call("garden.status")).state).toBe("playing");
  const client = createZmqClient({ address: addressNow() });
  const direct = (action: string, input: object, more: object = {}) =>
    client.dispatch({ tool: "garden", action, input }, more).then(({ envelope }) => envelope);
  // A command whose bytes are held back blocks the queue.
  const gate = Promise.withResolvers<void>();
  const wav = toneOf(0.1, 0.1);
  const upload = {
    mime: "audio/wav",
    size: wav.length,
    async *read() {
      yield wav.subarray(0, 100);
      await gate.promise;
      yield wav.subarray(100);
    },
  };
  const slow = direct("create_region", { beat: 5, name: "slow" }, { upload });
  const moves = Array.from({ length: 20 }, (_, n) =>
    direct("move_region", { region_id: region.region_id, beat: n + 1 }),
  );
  await expect.poll(async () => (await music.call("garden.status")).queued).toBe(20);
  const paused = await music.call("garden.emergency_pause");
  expect(paused).toMatchObject({ state: "paused", dropped: 20, queued: 0 });
  expect((await Promise.all(moves)).map(({ error }) => error?.code)).toEqual(Array(20).fill("CANCELLED"));
  gate.resolve();
  expect((await slow).ok).toBe(true);
  client.close();
  expect((await playing).ended).toBe("paused");
  expect((await regionsNow()).map(({ beat }) => beat)).toEqual([0, 5]);
  await clear();
});

test("cancelling the job of a playback stops the music", async () => {
  await music.call("garden.create_region", { source: await store(toneOf(30, 0.1), "half.wav"), beat: 0 });
  const controller = new AbortController();
  const playing = music.call(
    "garden.play",
    {},
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  expect((await playing).failed).toBe("CANCELLED");
  expect((await music.call("garden.status")).state).toBe("stopped");
  await clear();
});

test("a process that is killed at any moment loses no region that was answered", async () => {
  const known = new Map<string, number>();
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff;
    return seed % below;
  };
  for (let run = 0; run < RUNS; run++) {
    const { pid } = await music.call("garden.status");
    const kill = Promise.withResolvers<void>();
    const killAfter = 1 + random(12);
    let answered = 0;
    /** Changes whose answer was lost: each may have happened, or not. */
    const open = new Set<string>();
    let mayHaveOneMore = 0;
    const doing = Array.from({ length: 16 }, async () => {
      const ids = [...known.keys()];
      const region_id = ids[random(Math.max(1, ids.length))];
      const kind = region_id === undefined ? 0 : random(3);
      if (kind === 1 && region_id) open.add(region_id);
      if (kind === 2 && region_id) {
        open.add(region_id);
        known.delete(region_id);
      }
      const beat = random(100);
      const answer =
        kind === 0
          ? await music.call("garden.create_region", { source: sound, beat })
          : kind === 1
            ? await music.call("garden.move_region", { region_id, beat })
            : await music.call("garden.delete_region", { region_id });
      if (answer.region) {
        known.set(answer.region.region_id, answer.region.beat);
        if (kind === 0) open.delete(answer.region.region_id);
      } else if (kind === 0) mayHaveOneMore += 1;
      answered += 1;
      if (answered === killAfter) {
        process.kill(pid, "SIGKILL");
        kill.resolve();
      }
    });
    await Promise.all([kill.promise, ...doing]);
    // A process that dies may still accept a call; the call would end as INTERRUPTED.
    await expect.poll(() => isRunning(pid)).toBe(false);
    const found = new Map((await regionsNow()).map(({ region_id, beat }) => [region_id, beat]));
    for (const [region_id, beat] of known)
      if (!open.has(region_id)) expect(found.get(region_id), `run ${run}: ${region_id}`).toBe(beat);
    const strangers = [...found.keys()].filter((id) => !known.has(id) && !open.has(id));
    expect(strangers.length).toBeLessThanOrEqual(mayHaveOneMore);
    // Every region still has its sound.
    expect((await music.call("garden.status")).regions).toBe(found.size);
    known.clear();
    for (const [region_id, beat] of found) known.set(region_id, beat);
  }
  const folder = music.context.folder;
  const hashes = new Set((await regionsNow()).map((region) => region.sound.slice("sha256:".length)));
  for (const hash of hashes)
    expect(readWav(readFileSync(join(folder, "sounds", `${hash}.wav`))).rate).toBe(RATE);
  await clear();
});

test("without a sound device, playing to one is UNSUPPORTED and names the way out", async () => {
  await music.call("garden.create_region", { source: sound, beat: 0 });
  expect(await music.call("garden.play", { output: "device" })).toMatchObject({
    failed: "UNSUPPORTED",
    details: { what: "sound device", how: expect.stringContaining("output 'file'") },
  });
  await clear();
});

test("a device gets the samples of the mix", async () => {
  const { openSink } = await import("./output.ts");
  const bin = join(music.base, "bin");
  mkdirSync(bin);
  // A player that stores what it hears, in the place of PulseAudio's.
  writeFileSync(join(bin, "pacat"), `#!/bin/sh\nexec cat > "${music.base}/heard.raw"\n`);
  chmodSync(join(bin, "pacat"), 0o755);
  const env = { PATH: `${bin}:${process.env["PATH"]}`, PULSE_SERVER: "here" };
  const sink = openSink("device", music.base, "play_1", env);
  const samples = Float32Array.from([0, 0.5, -0.5]);
  sink.write([samples, samples], 3);
  sink.close();
  await expect.poll(() => readFileSync(join(music.base, "heard.raw")).length).toBe(12);
});

test("the process ends when its only user leaves and nothing plays", async () => {
  const other = await openMusic();
  const { pid } = await other.call("garden.status");
  await other[Symbol.asyncDispose]();
  await expect.poll(() => isAlive(pid)).toBe(false);
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
