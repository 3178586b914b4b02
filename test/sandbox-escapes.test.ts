import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { DEFAULT_SANDBOX } from "../packages/host/src/sandbox/settings.ts";
import { ESCAPE_PROBES, LATER_CREDENTIALS, LEAVER } from "../packages/host/testing/sandbox/escape-probes.ts";
import { ESCAPED, type Probe, toArgv } from "../packages/host/testing/sandbox/probe.ts";
import type { AssignedCommand, Report } from "../packages/host/testing/sandbox/probe-runner.ts";
import { createWorld, identities, type World } from "../packages/host/testing/sandbox/world.ts";

/** Only root can make a program that starts as root. */
const NEEDS_ROOT_TO_PREPARE = "becomes root by a setuid program";

const toCommand = (probe: Probe, { ws, outside }: World): AssignedCommand => {
  const env = Object.entries(probe.env ?? {}).map(([name, value]) => [
    name,
    value.replace("$WS", ws).replace("$OUTSIDE", outside),
  ]);
  return {
    argv: toArgv(probe),
    env: Object.fromEntries(env),
    ...(probe.network && { network: probe.network }),
  };
};

const runProbes = (
  world: World,
  probes: readonly Probe[],
  mode: "workspace" | "off",
  more?: { readonly prepared: true },
): Promise<Report> =>
  world.run({
    ...more,
    settings: { ...DEFAULT_SANDBOX, mode },
    commands: probes.map((probe) => toCommand(probe, world)),
  });

describe.skipIf(inject("missing").includes("bubblewrap")).each(identities())("as $name", ({ uid }) => {
  let inside: World;
  let waiting: World;
  let outside: World;
  let kept: Report;
  let prepared: Report;
  let free: Report;
  const amRoot = process.getuid?.() === 0;
  const shown = ESCAPE_PROBES.filter(
    ({ name, without }) =>
      (without === "anybody" && (amRoot || name !== NEEDS_ROOT_TO_PREPARE)) ||
      (without === "root" && uid === 0),
  );

  beforeAll(async () => {
    [inside, waiting, outside] = await Promise.all([createWorld(uid), createWorld(uid), createWorld(uid)]);
    kept = await runProbes(inside, ESCAPE_PROBES, "workspace");
    prepared = await runProbes(waiting, ESCAPE_PROBES, "workspace", { prepared: true });
    free = await runProbes(outside, shown, "off");
  }, 180_000);
  afterAll(async () => {
    await inside[Symbol.asyncDispose]();
    await waiting[Symbol.asyncDispose]();
    await outside[Symbol.asyncDispose]();
  });

  test("the probes ran at the promised level", () => {
    expect(kept.level).toBe("bubblewrap");
    expect(kept.outcomes.length).toBeGreaterThan(40);
    expect(prepared.level).toBe("bubblewrap");
    expect(prepared.outcomes.filter((outcome) => !outcome.prepared)).toEqual([]);
  });

  test.each(ESCAPE_PROBES.map(({ name }, n) => ({ name, n })))("no command $name", ({ n }) => {
    for (const { stdout, stderr } of [kept.outcomes[n]!, prepared.outcomes[n]!]) {
      expect(stdout, stderr).not.toContain(ESCAPED);
      expect(stderr).not.toContain("bwrap:");
    }
  });

  test.each(shown.map(({ name }, n) => ({ name, n })))("without a sandbox a command $name", ({ n }) => {
    const { stdout, stderr } = free.outcomes[n]!;
    expect(stdout, stderr).toContain(ESCAPED);
  });

  test("nothing outside has changed", () => {
    for (const world of [inside, waiting]) {
      expect(readdirSync(world.outside).sort()).toEqual([
        "file",
        "held",
        "remove-me",
        "setuid-id",
        "take-me",
      ]);
      expect(readFileSync(join(world.outside, "file"), "utf8")).toBe("x");
      expect(readFileSync(join(world.ws, ".hanzo/settings.json"), "utf8")).toBe("{}\n");
    }
  });

  test("background processes of a command end with it", async () => {
    await runProbes(inside, [LEAVER], "workspace");
    const survivorsIn = (world: typeof inside) => world.processesWith(world.env["SURVIVOR"]!);
    // The kernel may still be busy with ending them.
    await expect.poll(() => survivorsIn(inside), { timeout: 2_000 }).toEqual([]);
    await runProbes(outside, [LEAVER], "off");
    await expect.poll(() => survivorsIn(outside)).toHaveLength(1);
    for (const pid of survivorsIn(outside)) process.kill(pid, "SIGKILL");
  });

  test("a secret created while a command runs is not visible to it", async () => {
    const look = `touch ready; while [ ! -e go ]; do sleep 0.02; done; grep -rls CANARY_OF_LATER "$HOME" || echo none`;
    const running = inside.run({ settings: DEFAULT_SANDBOX, commands: [{ argv: ["/bin/sh", "-c", look] }] });
    await expect.poll(() => existsSync(join(inside.ws, "ready"))).toBe(true);
    for (const path of LATER_CREDENTIALS) inside.write(join(inside.home, path), "CANARY_OF_LATER\n");
    inside.write(join(inside.ws, "go"), "");
    const { outcomes } = await running;
    expect(outcomes[0]).toMatchObject({ code: 0, stdout: "none\n" });
  });
});
