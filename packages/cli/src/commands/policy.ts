import { explainCall, findCalled } from "@octant/app";
import { toInputSchema, toOneLine } from "@octant/core";
import type { PolicyExplanation } from "@octant/runtime";
import { parseCallArguments } from "../call-arguments.ts";
import { toColumns } from "../columns.ts";
import { defineCommand, print, printJson, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { painted, type Shown } from "../output.ts";
import { permissionFlags, workspaceFlags } from "../workspace-flags.ts";

const COLOURS = { runs: "green", asks: "yellow", refused: "red" } as const;

export const policy = defineCommand({
  name: "policy",
  summary: "Explain which rule, tier, mode, hook and sandbox decide a call, and why",
  arguments: [
    { name: "explain", kind: ["explain"] },
    { name: "TOOL.ACTION", kind: "action" },
    { name: "KEY=VALUE", many: true },
  ],
  flags: {
    ...workspaceFlags,
    ...permissionFlags,
    json: { summary: "Print the explanation as JSON" },
  },
  notes: `Nothing is called. Arguments are given as for octant call; they need not be complete. For example:
  octant policy explain fs.apply_patch uri=src/main.ts
  octant policy explain proc.exec command='["git","push"]' --permissions enforce`,
  async run({ args: [, called = "", ...words], flags }, io) {
    await using octant = await openOctant(flags, io);
    const act = findCalled(octant, called);
    const readNothing = (source: string): string => {
      throw new UsageError(`@${source} is not read here`, "give the text itself, or leave it out");
    };
    const explanation = await explainCall(octant, {
      name: called,
      input: parseCallArguments(words, toInputSchema(act), readNothing),
      permissions: flags.permissions,
      mode: flags.mode,
    });
    return flags.json ? printJson(explanation, io) : print(render(explanation, io.stdout), io);
  },
});

function render(explained: PolicyExplanation, stream: NodeJS.WriteStream): Shown {
  const { name, outcome, decided_by, why, access, mode, permission, hooks, sandbox, allow_rule } = explained;
  const verdict = painted(COLOURS[outcome], outcome, stream);
  const rows = [
    ["access", `needs ${access.needs}, has ${access.has}`],
    [
      "mode",
      mode.mode === null ? "none: everything is allowed" : `${mode.mode}, the intent is ${mode.intent}`,
    ],
    [
      "permission",
      `${permission.mode} by ${permission.tier} (${permission.setting} asks): ${permission.reason}`,
    ],
    ...permission.votes.map((vote) => ["", `${vote.tier} says ${vote.mode}: ${vote.reason}`]),
    ["hooks", hooks.map((hook) => `${hook.event}: ${hook.command}`).join("; ") || "none"],
    ["sandbox", `${sandbox.mode} at level ${sandbox.level}: ${sandbox.detail}`],
    ...(allow_rule ? [["to allow it", JSON.stringify(allow_rule)]] : []),
  ];
  const lines = toColumns(rows.map((row) => row.map(toOneLine)));
  const reason = `, decided by ${decided_by}: ${toOneLine(why)}`;
  return [`${toOneLine(name)} `, verdict, [reason, ...lines].join("\n")];
}
