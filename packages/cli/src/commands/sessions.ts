import { writeFileSync } from "node:fs";
import type { SessionInfo } from "@octant/agent";
import { EXPORT_FORMATS, exportSession, openHostFolder, openSessions } from "@octant/app";
import { toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, print, printJson, toCount, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { printJsonText } from "../output.ts";
import { tell } from "../person-command.ts";
import { logLine, workspaceFlags } from "../workspace-flags.ts";

const VERBS = ["list", "show", "export", "remove"] as const;
const DEFAULT_LIMIT = 20;

export const sessions = defineCommand({
  name: "sessions",
  summary: "List, export and remove conversations with the agent",
  arguments: [
    { name: VERBS.join("|"), kind: VERBS, optional: true },
    { name: "ID", optional: true },
  ],
  flags: {
    root: workspaceFlags.root,
    host: {
      summary: "The sessions whose tools ran at this address of --host",
      value: "ADDRESS",
      env: "OCTANT_TOOL_HOST",
    },
    format: { summary: "Export format; markdown by default", value: "FORMAT", choices: EXPORT_FORMATS },
    output: { summary: "Write the export to this file", value: "FILE" },
    limit: { summary: "List at most this many; 20 by default", value: "N" },
    json: { summary: "Print as JSON" },
  },
  notes: `The sessions of this folder, newest first. An id may be cut as long as it is unambiguous.
  octant sessions                        what there is
  octant sessions show ID                one of them, with its files and costs
  octant sessions export ID --format html --output session.html
  octant sessions remove ID
  octant run --resume ID "go on"         continue one`,
  async run({ args: [verb = "list", id], flags }, io) {
    const limit = toCount("limit", flags.limit) ?? DEFAULT_LIMIT;
    const warn = (line: string) => void logLine(line, io);
    const root = flags.host === undefined ? flags.root : [openHostFolder(flags.host, io.env, warn)];
    await using octant = await openOctant({ root }, io);
    const store = openSessions(octant.workspace);
    if (verb === "list") {
      const all = await store.list();
      return flags.json
        ? printJson(all, io)
        : all.length === 0
          ? tell(NO_SESSIONS, io)
          : print(showList(all, limit), io);
    }
    if (id === undefined)
      throw new UsageError(`octant sessions ${verb} needs an ID`, "octant sessions lists them");
    if (verb === "show") {
      const info = await store.info(id);
      return flags.json ? printJson(info, io) : print(showOne(info), io);
    }
    if (verb === "remove") {
      await store.remove(id);
      return print("removed", io);
    }
    const { format = "markdown" } = flags;
    const text = await exportSession(store.events(id), format);
    if (flags.output === undefined)
      return format === "json" ? printJsonText(text.trimEnd(), io) : print(text.trimEnd(), io);
    writeFileSync(flags.output, text, { mode: 0o600 });
    return EXIT.OK;
  },
});

const NO_SESSIONS = 'there are no sessions in this folder yet; octant run "…" begins one';

/** Long enough to be unambiguous, short enough to type. */
const SHORT_ID_CHARS = 20;

function showList(all: readonly SessionInfo[], limit: number): string {
  const rows = all
    .slice(0, limit)
    .map((info) => [
      info.session_id.slice(0, SHORT_ID_CHARS),
      info.updated_at.slice(0, 16).replace("T", " "),
      stateOf(info),
      `${info.turns}`,
      info.cost === null ? "-" : `$${info.cost.toFixed(2)}`,
      toOneLine([info.title, info.problem ?? ""].filter(Boolean).join(": ")),
    ]);
  const more = all.length > limit ? [`${all.length - limit} more: --limit ${all.length}`] : [];
  return [...toColumns([["id", "updated", "state", "turns", "cost", "title"], ...rows]), ...more].join("\n");
}

const stateOf = ({ ended, problem }: SessionInfo): string =>
  problem === null ? (ended ?? "open") : "unreadable";

const showOne = (info: SessionInfo): string =>
  toColumns([
    ["id", info.session_id],
    ["title", toOneLine(info.title)],
    ["model", `${info.provider} ${info.model}`],
    ["folder", toOneLine(info.cwd)],
    ["created", info.created_at],
    ["updated", info.updated_at],
    ["state", stateOf(info)],
    ...(info.problem === null ? [] : [["problem", toOneLine(info.problem)]]),
    ["turns", `${info.turns}`],
    ["tokens", `${info.tokens}`],
    ["cost", info.cost === null ? "not known" : `$${info.cost.toFixed(4)}`],
    ["events", `${info.events}`],
    ...info.changed_files.map((file) => ["changed", toOneLine(file)]),
  ]).join("\n");
