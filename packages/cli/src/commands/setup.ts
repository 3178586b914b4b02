import { isAbsolute, relative, resolve } from "node:path";
import {
  acpSettings,
  CLIENTS,
  carryOut,
  chooseLaunch,
  createTry,
  isInstalled,
  type Machine,
  type Outcome,
  type Plan,
  planChange,
  type Scope,
  snippetOf,
  type Target,
  targetsOf,
  typedCommand,
  type Wish,
} from "@octant/app";
import { defineCommand, EXIT, type Io, print, printJson, UsageError } from "../command.ts";
import { note } from "../output.ts";
import { thisInstall, toMachine } from "../person-command.ts";
import { confirm } from "../questions.ts";
import { safeDiff, showOutcome, showPlan } from "../show-setup.ts";

const IDS = CLIENTS.map(({ id }) => id);

export const setup = defineCommand({
  name: "setup",
  summary: "Register Octant in MCP clients and editors",
  arguments: [{ name: "CLIENT", kind: IDS, many: true }],
  flags: {
    scope: {
      summary: "Which settings to change: yours, or those of the project in the current folder",
      value: "SCOPE",
      choices: ["user", "project"],
    },
    root: { summary: "The folder that the client may work in", value: "DIR", many: true },
    remove: { summary: "Remove the registration" },
    print: { summary: "Only print what to paste and where" },
    acp: { summary: "Print how Zed, JetBrains IDEs and Neovim start the agent (octant acp)" },
    yes: { summary: "Do not ask for confirmation" },
    json: { summary: "Print the changes as JSON" },
  },
  notes: `Clients: ${IDS.join(", ")};
without a name, all that are installed.
Only octant's entry is changed, and of that only the command: flags behind serve, environment and comments
stay. A copy of the previous file is stored beside it. Then the server is started as the client would, and its
tools are listed; if that fails, the change is reverted. A client without projects gets the current folder as
its root, or the folder of --root.`,
  async run({ args, flags }, io) {
    const machine = toMachine(io);
    const scope = flags.scope ?? "user";
    if (flags.acp) return printAcp(machine, flags.json, io);
    const wish: Wish = {
      launch: chooseLaunch(thisInstall(), scope, machine),
      roots: flags.root.map((root) => toRoot(root, scope, machine)),
      remove: flags.remove,
    };
    if (flags.print && args.length === 0 && installedTargets(scope, machine).length === 0)
      return printForAny(wish, machine, flags.json, io);
    const targets = chooseTargets(args, scope, machine);
    if (flags.print) return printSnippets(targets, wish, machine, flags.json, io);
    const plans = targets.map((target) => planChange(target, wish, machine));
    if (!flags.json) for (const plan of plans) showPlan(plan, io);
    const count = plans.filter(isChange).length;
    if (count > 0 && !flags.yes && !(await isAgreed(count, plans, flags.json, io))) return EXIT.FAILED;
    const tryStart = createTry(machine);
    // Sequential: two clients may share a file.
    const outcomes: Outcome[] = [];
    for (const plan of plans) {
      const outcome = await carryOut(plan, thisInstall(), machine, tryStart);
      outcomes.push(outcome);
      if (!flags.json && isChange(plan)) showOutcome(plan, outcome, io);
    }
    if (flags.json) printRows(plans, outcomes, io);
    return outcomes.some(({ status }) => status === "refused" || status === "undone") ? EXIT.FAILED : EXIT.OK;
  },
});

function printAcp(machine: Machine, json: boolean, io: Io): number {
  const rows = acpSettings(chooseLaunch(thisInstall(), "user", machine));
  if (json) return printJson(rows, io);
  for (const { editor, file, text } of rows) print(`${editor}: ${file}\n${indent(text)}\n`, io);
  return EXIT.OK;
}

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ");

/** A project's file is shared, so its roots are relative to the project. */
function toRoot(root: string, scope: Scope, { cwd }: Machine): string {
  const path = resolve(cwd, root);
  if (scope === "user") return path;
  const inside = relative(cwd, path);
  if (!inside.startsWith("..") && !isAbsolute(inside)) return inside || ".";
  throw new UsageError(
    `--root ${root} is outside the project`,
    "a file that others share cannot name it; use --scope user",
  );
}

function chooseTargets(names: readonly string[], scope: Scope, machine: Machine): Target[] {
  const chosen = CLIENTS.filter(({ id }) => names.includes(id));
  const fileless = chosen.find((client) => targetsOf(client, scope, machine).length === 0);
  if (fileless)
    throw new UsageError(`${fileless.title} has no files in a project`, "leave out --scope project");
  if (names.length > 0) return chosen.flatMap((client) => targetsOf(client, scope, machine));
  const found = installedTargets(scope, machine);
  if (found.length > 0) return found;
  throw new UsageError(
    "no client was found on this machine",
    `name one (${IDS.join(", ")}), or see what to paste: ${typedCommand(machine)} setup --print`,
  );
}

const installedTargets = (scope: Scope, machine: Machine): Target[] =>
  CLIENTS.filter((client) => isInstalled(client, machine)).flatMap((client) =>
    targetsOf(client, scope, machine),
  );

const isChange = ({ does }: Plan): boolean => does !== "nothing" && does !== "refuse";

/** Asks on a terminal only. */
async function isAgreed(count: number, plans: readonly Plan[], json: boolean, io: Io): Promise<boolean> {
  if (!io.stdin.isTTY || !io.stderr.isTTY) {
    if (json) printRows(plans, [], io);
    throw new UsageError("nothing was written: there is no terminal to confirm on", "--yes writes it");
  }
  const isYes = await confirm(`Write ${count === 1 ? "this file" : `these ${count} files`}?`, io);
  if (!isYes) note("octant: nothing was written", io);
  return isYes;
}

function printSnippets(
  targets: readonly Target[],
  wish: Wish,
  machine: Machine,
  json: boolean,
  io: Io,
): number {
  const rows = targets.map(({ client, scope, file }) => ({
    client: client.id,
    scope,
    file,
    text: snippetOf(client, wish, machine),
  }));
  if (json) return printJson(rows, io);
  for (const { file, text } of rows) print(`${file}\n${indent(text)}`, io);
  return EXIT.OK;
}

/** Most clients read `mcpServers`, like Claude Code. */
function printForAny(wish: Wish, machine: Machine, json: boolean, io: Io): number {
  const text = snippetOf(CLIENTS[0]!, wish, machine);
  if (json) return printJson([{ client: null, scope: null, file: null, text }], io);
  const said = `No client was found on this machine. Most clients read this from their settings:
${indent(text)}
${typedCommand(machine)} setup CLIENT --print shows the file and form of one of them: ${IDS.join(", ")}`;
  return print(said, io);
}

/** Without an outcome: the planned change. */
const printRows = (plans: readonly Plan[], outcomes: readonly Outcome[], io: Io): number =>
  printJson(
    plans.map((plan, at) => {
      const { client, scope, file, does } = plan;
      const planned = does === "refuse" ? { reason: plan.reason } : {};
      return {
        client: client.id,
        scope,
        file,
        ...(outcomes[at] ?? { status: "planned", ...planned }),
        ...(does !== "remove" && client.afterwards !== undefined && { next: client.afterwards }),
        ...("diff" in plan && { diff: safeDiff(plan.diff, io.env).join("\n") }),
      };
    }),
    io,
  );
