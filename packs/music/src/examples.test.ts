import { afterAll, beforeAll, expect, test } from "vitest";
import { type Music, openMusic } from "../testing/open-music.ts";

let music: Music;
beforeAll(async () => {
  music = await openMusic();
});
afterAll(async () => {
  expect(music.bugs).toEqual([]);
  await music[Symbol.asyncDispose]();
});

const OWN = ["abc", "soundfont", "audio", "orpheus", "musicgen", "yue", "clap", "beatthis", "garden"];

test.each(OWN)("every example of %s does what it says on an empty project", async (name) => {
  const tool = music.registry.get(name);
  for (const [key, { examples, builtin }] of Object.entries(tool?.actions ?? {})) {
    if (builtin) continue;
    for (const { title, input, fails } of examples) {
      const answer = await music.call(`${name}.${key}`, input);
      expect(answer.failed, `${name}.${key}: ${title}`).toBe(fails);
    }
  }
});
