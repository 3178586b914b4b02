import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createScriptedProvider } from "@octant/scripted-provider";
import { expect, test } from "vitest";
import { ACPX } from "../scripts/system-packages.ts";
import { createFixtureProject } from "./fixture-project.ts";
import { LAUNCHER } from "./published-command.ts";
import { accountAt } from "./scripted-account.ts";

const COMMAND = join(ACPX, "node_modules/acpx/dist/cli.js");

test.skipIf(!existsSync(COMMAND) && process.env["CI"] !== "true")(
  "acpx, a client that others wrote, drives a turn (CI=true npm run system-packages installs it)",
  async () => {
    await using provider = await createScriptedProvider(({ answers }) =>
      answers === 0
        ? { parts: [{ call: "fs", input: { action: "read", uri: "README.md" } }] }
        : { parts: [{ text: "small" }] },
    );
    using project = createFixtureProject();
    const env = {
      ...project.env,
      ...accountAt(provider),
    };
    const agent = `${process.execPath} ${LAUNCHER} acp --model some-model`;
    const args = [COMMAND, "--agent", agent, "--approve-all", "--format", "json", "exec", "read it"];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project.root, env });
    expect(stdout).toContain('"status":"completed"');
    expect(stdout).toContain('"stopReason":"end_turn"');
  },
);
