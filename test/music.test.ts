import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { runOctant } from "./octant-process.ts";

const PACK = join(import.meta.dirname, "../packs/music");

let project: FixtureProject;
beforeAll(() => {
  project = createFixtureProject();
});
afterAll(() => project[Symbol.dispose]());

/** The data of a call with the built command and the pack in its sandboxed process. */
async function call(name: string, ...input: readonly string[]) {
  const args = ["call", name, "--pack", PACK, "--json", ...input];
  const { stdout, stderr } = await runOctant(args, { cwd: project.root, env: project.env });
  const { ok, data, error } = JSON.parse(stdout || JSON.stringify({ error: stderr }));
  return ok ? data : { failed: error.code ?? error, message: error.message };
}

test("the built command plays a typed tune, places it in the garden and mixes it", async () => {
  const midi = await call(
    "abc.to_midi",
    "abc=X:1\nT:Two notes\nL:1/4\nQ:1/4=240\nK:C\nC E|]\n",
    "save=two.mid",
  );
  expect(midi).toMatchObject({
    notes: 2,
    seconds: 0.5,
    artifact: { name: "Two notes.mid", tags: ["type:midi"] },
  });
  expect(readFileSync(join(project.root, "two.mid")).toString("latin1", 0, 4)).toBe("MThd");
  const source = `source=${midi.artifact.artifact_id}`;
  const wav = await call("audio.midi_to_wav", source, "tail=0");
  expect(wav).toMatchObject({ seconds: 0.5, artifact: { parents: [midi.artifact.artifact_id] } });
  const region = await call("garden.create_region", `source=${wav.artifact.artifact_id}`, "beat=0");
  expect(region.failed).toBeUndefined();
  // Each command had a garden of its own, in the sandbox of its pack; the regions are the same.
  expect((await call("garden.get_regions")).regions).toMatchObject([{ name: "Two notes.wav", seconds: 0.5 }]);
  const played = await call("garden.play");
  expect(played.failed).toBeUndefined();
  const measured = await call("audio.analyze", `source=${wav.artifact.artifact_id}`);
  expect(measured.pitch_classes.map((one: { name: string }) => one.name).sort()).toEqual(["C", "E"]);
});

test("a model service that is not set up is UNSUPPORTED through the command", async () => {
  expect(await call("orpheus.generate")).toMatchObject({ failed: "UNSUPPORTED" });
});
