import { styleText } from "node:util";
import { ToolError, toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type Io, UsageError } from "../command.ts";
import { checkEdges } from "../edge-health.ts";
import { type Check, checkMachine, checkWorkspace } from "../health.ts";
import { openOctant } from "../open-octant.ts";
import { checkClients } from "../setup/check-clients.ts";
import { checkTestRun } from "../test-health.ts";
import { workspaceFlags } from "../workspace-flags.ts";

const COLOURS = { ok: "green", warn: "yellow", fail: "red" } as const;

export const doctor = defineCommand({
  name: "doctor",
  summary: "Check that everything is here, and say what to do about what is not",
  flags: { ...workspaceFlags, json: { summary: "Print the checks as JSON" } },
  async run({ flags }, io) {
    const checks = [
      ...(await lookAround(() => openOctant(flags, io), io)),
      await checkTestRun(io),
      ...checkMachine(io),
      ...(await checkClients(io)),
    ];
    if (flags.json) io.stdout.write(`${JSON.stringify(checks, null, 2)}\n`);
    else show(checks, io);
    return checks.some(({ status }) => status === "fail") ? EXIT.FAILED : EXIT.OK;
  },
});

/** A workspace that cannot be opened is a finding too. */
async function lookAround(open: () => ReturnType<typeof openOctant>, { env }: Io): Promise<Check[]> {
  try {
    await using octant = open();
    return [...(await checkWorkspace(octant)), ...(await checkEdges(octant, env))];
  } catch (cause) {
    if (!(cause instanceof ToolError || cause instanceof UsageError)) throw cause;
    return [{ name: "workspace", status: "fail", detail: cause.message }];
  }
}

function show(checks: readonly Check[], { stdout }: Io): void {
  const rows = checks.map(({ name, status, detail }) => [
    styleText(COLOURS[status], status, { stream: stdout }),
    name,
    toOneLine(detail),
  ]);
  stdout.write(`${toColumns(rows).join("\n")}\n`);
}
