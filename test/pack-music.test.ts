import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { encodeWav } from "../packs/music/src/audio/wav.ts";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { stdioOf } from "./printing-command.ts";
import { lacks } from "./ui/lacks.ts";

const MUSIC = join(import.meta.dirname, "../packs/music");
const SOUNDFONT = "timgm6mb-soundfont";
const RATE = 44_100;
const MAX_POLL_MS = 30_000;

let project: FixtureProject;
const client = new Client({ name: "test", version: "1" });

/** The built command with the pack in its sandbox, and a soundfont in the person's home. */
beforeAll(async () => {
  project = createFixtureProject();
  const home = String(project.env["HOME"]);
  mkdirSync(join(home, ".config/hanzo"), { recursive: true });
  const soundfont = "~/piano.sf2";
  if (!lacks(SOUNDFONT)) copyFileSync("/usr/share/sounds/sf2/TimGM6mb.sf2", join(home, "piano.sf2"));
  writeFileSync(
    join(home, ".config/hanzo/settings.json"),
    JSON.stringify({ packs: { music: { from: MUSIC, settings: { soundfont } } } }),
    { mode: 0o600 },
  );
  for (const [name, seconds] of [
    ["short.wav", 0.2],
    ["long.wav", 60],
  ] as const) {
    const channel = new Float32Array(Math.round(seconds * RATE)).fill(0.25);
    writeFileSync(join(project.root, name), encodeWav({ rate: RATE, channels: [channel] }));
  }
  await client.connect(stdioOf(project, "serve", "--pack", MUSIC));
});
afterAll(async () => {
  await client.close();
  project[Symbol.dispose]();
});

const Answer = z.object({
  ok: z.boolean(),
  data: z.unknown(),
  error: z.unknown(),
  meta: z.looseObject({ job_id: z.string().optional() }),
});

async function call(tool: string, action: string, input: object = {}, onprogress?: () => void) {
  const { structuredContent } = await client.callTool(
    { name: tool, arguments: { action, ...input } },
    { ...(onprogress && { onprogress }) },
  );
  const answer = Answer.parse(structuredContent);
  expect(answer, `${tool}.${action}`).toMatchObject({ ok: true });
  // biome-ignore lint/suspicious/noExplicitAny: the data of any action.
  return { data: answer.data as any, job_id: answer.meta.job_id };
}

/** The result of a job, as job.poll returns it. */
async function poll(job_id: string | undefined) {
  const { data } = await call("job", "poll", { job_id, timeout_ms: MAX_POLL_MS });
  return data;
}

test("job.poll has the results of the garden's jobs: a region, and the mix of what was played", async () => {
  const created = await call("garden", "create_region", { source: "short.wav", beat: 0 });
  expect(await poll(created.job_id)).toMatchObject({
    job: { tool: "garden", action: "create_region", state: "complete" },
    result: { ok: true, data: { region: { name: "short.wav", seconds: 0.2 } } },
  });
  const played = await call("garden", "play");
  expect(await poll(played.job_id)).toMatchObject({
    job: { action: "play", state: "complete" },
    result: { ok: true, data: { ended: "complete", artifact: { name: "garden.wav" } } },
  });
});

test("a failed garden job is found by its state, and polling it has the error", async () => {
  const region_id = "region_00mgbz4x2k1h7v0c9qj3t5w8y6r4n2b0d8f6";
  const moved = await call("garden", "move_region", { region_id, beat: 4 });
  expect(await poll(moved.job_id)).toMatchObject({
    job: { state: "failed" },
    result: { ok: false, error: { code: "NOT_FOUND" } },
  });
  const { data } = await call("job", "list", { status: "failed" });
  expect(data.jobs).toMatchObject([{ job_id: moved.job_id }]);
});

test("job.cancel of a playback stops the music", async () => {
  await poll((await call("garden", "create_region", { source: "long.wav", beat: 0 })).job_id);
  const { job_id } = await call("garden", "play");
  await expect.poll(async () => (await call("garden", "status")).data.state).toBe("playing");
  await call("job", "cancel", { job_id });
  expect(await poll(job_id)).toMatchObject({ job: { state: "cancelled" } });
  await expect.poll(async () => (await call("garden", "status")).data.state).toBe("stopped");
});

test.skipIf(lacks(SOUNDFONT))(
  "a tune becomes sound with the soundfont in the person's home, linked to its origins",
  async () => {
    const abc = "X:1\nT:Walk\nM:4/4\nL:1/4\nQ:1/4=240\nK:C\nC E G c|]\n";
    const { data: midi } = await call("abc", "to_midi", { abc });
    let progress = 0;
    const source = midi.artifact.artifact_id;
    const { data: wav } = await call("audio", "midi_to_wav", { source }, () => progress++);
    expect(wav).toMatchObject({ seconds: 2, soundfont: "settings", artifact: { parents: [source] } });
    expect(progress).toBeGreaterThan(0);
    const { data: heard } = await call("audio", "analyze", { source: wav.artifact.artifact_id });
    const loud = heard.pitch_classes.slice(0, 3).map(({ name }: { name: string }) => name);
    expect(loud.sort()).toEqual(["C", "E", "G"]);
    const { data: found } = await call("graph", "find", { name: "Walk.wav" });
    const { data: origins } = await call("graph", "query", {
      from: found.identities[0].identity_id,
      kind: "made_from",
    });
    expect(origins.reached.map(({ identity }: { identity: { name: string } }) => identity.name)).toEqual([
      "Walk.mid",
      "Walk.abc",
    ]);
    const { data: tunes } = await call("artifact", "list", { tags: ["type:tune"] });
    expect(tunes.artifacts).toMatchObject([{ name: "Walk.abc" }]);
  },
);
