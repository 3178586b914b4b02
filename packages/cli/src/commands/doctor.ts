import { type Check, checkClients, checkEdges, checkHere, checkTestRun } from "@octant/app";
import { counted, ToolError, toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type Io, print, printJson, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { painted } from "../output.ts";
import { thisInstall, toMachine } from "../person-command.ts";
import { workspaceFlags } from "../workspace-flags.ts";

const COLOURS = { ok: "green", warn: "yellow", fail: "red" } as const;

export const doctor = defineCommand({
  name: "doctor",
  summary: "Check that Octant works for this project, and say what to do if it does not",
  flags: {
    ...workspaceFlags,
    all: { summary: "Also show what this project does not need" },
    json: { summary: "Print all checks as JSON" },
  },
  async run({ flags }, io) {
    const around = await lookAround(() => openOctant(flags, io), io);
    const checks = [
      ...around,
      around.some(isClosed) ? UNTRIED_TESTS : await checkTestRun(io.env),
      checkTerminal(io),
      ...(await checkClients(toMachine(io), thisInstall())),
    ];
    if (flags.json) printJson(checks, io);
    else show(checks, flags.all, io);
    return checks.some(({ status }) => status === "fail") ? EXIT.FAILED : EXIT.OK;
  },
});

/** A workspace that cannot be opened is a finding too. */
async function lookAround(open: () => ReturnType<typeof openOctant>, { env }: Io): Promise<Check[]> {
  try {
    await using octant = await open();
    return [...(await checkHere(octant, env)), ...(await checkEdges(octant, env))];
  } catch (cause) {
    if (!(cause instanceof ToolError || cause instanceof UsageError)) throw cause;
    return [{ name: "workspace", status: "fail", detail: cause.message }];
  }
}

function checkTerminal({ stdout, env }: Io): Check {
  if (!stdout.isTTY) return { name: "terminal", status: "ok", detail: "none; the output is plain" };
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"] || "";
  const facts = `${env["TERM"] ?? "unknown"}, ${stdout.columns} columns, ${stdout.hasColors() ? "colours" : "no colours"}`;
  return /utf-?8/i.test(locale)
    ? { name: "terminal", status: "ok", detail: facts }
    : {
        name: "terminal",
        status: "warn",
        detail: `${facts}; the locale is not UTF-8, so file names may look wrong: set LANG=C.UTF-8`,
      };
}

const isClosed = ({ name, status }: Check) => name === "workspace" && status === "fail";

const UNTRIED_TESTS: Check = {
  name: "test.run",
  status: "warn",
  detail: "not tried, because the workspace cannot be opened",
};

function show(checks: readonly Check[], all: boolean, io: Io): void {
  // Failures are always shown.
  const shown = checks.filter(({ extra, status }) => all || !extra || status === "fail");
  const rows = toColumns(shown.map(({ name, status, detail }) => [status, name, toOneLine(detail)]));
  const hidden = checks.length - shown.length;
  const more =
    hidden === 0
      ? []
      : [`${counted(hidden, "check")} of things this project does not need: --all shows them`];
  for (const [at, { status }] of shown.entries())
    print([painted(COLOURS[status], status, io.stdout), rows[at]?.slice(status.length) ?? ""], io);
  print([...more, verdictOn(shown)].join("\n"), io);
}

function verdictOn(checks: readonly Check[]): string {
  const count = (wanted: Check["status"]) => checks.filter(({ status }) => status === wanted).length;
  const [failed, warned] = [count("fail"), count("warn")];
  if (failed > 0) return `Not ready: ${counted(failed, "check")} failed; the lines above say what to do.`;
  return warned > 0 ? `Ready, with ${counted(warned, "warning")}.` : "Ready.";
}
