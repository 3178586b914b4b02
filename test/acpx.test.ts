import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { createFixtureProject } from "./fixture-project.ts";
import { LAUNCHER } from "./published-command.ts";

/** The command of the npm package acpx: 48 MB, so it is not a dependency. */
const ACPX = process.env["OCTANT_ACPX"];

test.skipIf(!ACPX)(
  "acpx, a client that others wrote, drives a turn (needs OCTANT_ACPX=…/bin/acpx)",
  async () => {
    await using provider = await createScriptedProvider(({ answers }) =>
      answers === 0
        ? { parts: [{ call: "fs", input: { action: "read", uri: "README.md" } }] }
        : { parts: [{ text: "small" }] },
    );
    using project = createFixtureProject();
    const env = {
      ...project.env,
      ANTHROPIC_API_KEY: "sk-test-0123456789",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    };
    const agent = `${process.execPath} ${LAUNCHER} acp --model some-model`;
    const args = [ACPX ?? "", "--agent", agent, "--approve-all", "--format", "json", "exec", "read it"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project.root, env });
    expect(stdout).toContain('"status":"completed"');
    expect(stdout).toContain('"stopReason":"end_turn"');
  },
);
