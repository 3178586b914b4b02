import { describe, test } from "vitest";
import { describeEngine } from "../../testing/engine-contract.ts";
import { ENGINE_NAMES, openEngine } from "../../testing/engines.ts";

for (const name of ENGINE_NAMES) {
  const opened = await openEngine(name);
  if (typeof opened === "string") test.skip(`the engine ${name} runs containers (not here: ${opened})`);
  else describe(`the engine ${name}`, () => describeEngine(opened));
}
