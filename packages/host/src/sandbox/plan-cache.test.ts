import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSocketFolder, openStateFolder } from "../state.ts";
import { createPlanCache } from "./plan-cache.ts";
import { openScratch } from "./scratch.ts";
import { DEFAULT_SANDBOX } from "./settings.ts";

test("one plan serves the probe and commands, while a server comes up meanwhile", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octant-plans-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, "root");
  mkdirSync(root);
  const places = { XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache") };
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...places };
  const state = openStateFolder({ roots: [root], env, warn: () => {} });
  const fixed = { roots: [root], settings: DEFAULT_SANDBOX, env, state, scratch: openScratch(state) };
  const plans = createPlanCache({ ...fixed, isRoot: false });
  const probe = { isOurs: false, changesProtected: false, protectedMounts: [], extra: [] };
  const isShared = async () => {
    const probed = plans.get(probe);
    const control = createServer().listen(join(openSocketFolder(env), "1-control.sock"));
    await once(control, "listening");
    const ofCommand = plans.get({ ...probe, readOnly: false, besides: [], masked: [] });
    control.close();
    return ofCommand === probed;
  };
  // Any other program of this machine may open a socket meanwhile.
  await expect.poll(isShared).toBe(true);
  expect(plans.get({ ...probe, readOnly: true })).not.toBe(plans.get(probe));
});
