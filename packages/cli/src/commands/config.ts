import { toOneLine } from "@octant/core";
import { explainConfig, loadConfig, type Origin } from "@octant/runtime";
import { toColumns } from "../columns.ts";
import { defineCommand, print, printJson } from "../command.ts";
import { painted } from "../output.ts";
import { tell } from "../person-command.ts";
import { logLine, rootsOf, workspaceFlags } from "../workspace-flags.ts";

export const config = defineCommand({
  name: "config",
  summary: "Show the settings in effect, and where each comes from",
  arguments: [
    { name: "explain", kind: ["explain"], optional: true },
    { name: "KEY", optional: true },
  ],
  flags: { root: workspaceFlags.root, json: { summary: "Print the values as JSON" } },
  notes: `Settings are read from ~/.config/hanzo/settings.json, then .hanzo/settings.json and
.hanzo/settings.local.json of the project, then the environment. What concerns safety can only be
narrowed after the first. docs/settings.md describes every key. For example:
  octant config
  octant config explain permissions`,
  async run({ args: [, key], flags }, io) {
    const loaded = loadConfig({ roots: rootsOf(flags, io), env: io.env });
    const rows = explainConfig(loaded, key);
    if (flags.json) return printJson(rows, io);
    for (const warning of loaded.warnings) logLine(warning, io);
    if (rows.length === 0 && key !== undefined)
      return tell(`nothing is set for ${toOneLine(key)}; octant config shows all keys`, io);
    const cells = rows.map((row) => [row.key, toShown(row), toLocation(row.origin)]);
    const [head = "", ...lines] = toColumns([["key", "value", "from"], ...cells]);
    return print([painted("dim", head, io.stdout), ...lines.map((line) => `\n${line}`)], io);
  },
});

/** A model that nobody chose is the one of the provider. */
const toShown = ({ key, value, origin }: ReturnType<typeof explainConfig>[number]): string =>
  key === "model" && origin.tier === "default" ? "that of the provider" : value || "-";

const toLocation = ({ tier, file, line }: Origin): string =>
  file === null ? tier : toOneLine(line === null ? `${tier}: ${file}` : `${tier}: ${file}:${line}`);
