import { loadStatuses, type ProcessStatus, type SilentProcess } from "@octant/app";
import { counted, toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, print, printJson } from "../command.ts";
import { note, painted } from "../output.ts";
import { asTyped } from "../person-command.ts";

export const ps = defineCommand({
  name: "ps",
  summary: "List your running Octant processes: servers, agents, editors",
  flags: { json: { summary: "Print as JSON" } },
  notes: `Every server that a client started, every agent in a terminal or an editor, in all projects of this user.
  octant ps                 what runs, for whom, and whether it waits for you
  octant watch              what they do, as it happens
  octant answer             what they ask you`,
  async run({ flags }, io) {
    const statuses = await loadStatuses(io.env);
    if (flags.json) return printJson(statuses, io);
    if (statuses.length === 0) {
      note("no Octant process of yours is running", io);
      return EXIT.OK;
    }
    const [head = "", ...lines] = toColumns([
      HEAD,
      ...statuses.flatMap((one) => toRows(one, io.env["HOME"])),
    ]);
    const waiting = statuses.flatMap((one) => ("questions" in one ? one.questions : [])).length;
    const hint =
      waiting === 0 ? [] : ["", asTyped(`${counted(waiting, "question")} waiting: octant answer`, io)];
    return print([painted("dim", head, io.stdout), ...[...lines, ...hint].map((line) => `\n${line}`)], io);
  },
});

const HEAD = ["pid", "command", "project", "client", "state", "started", "session"];

function toRows(one: ProcessStatus | SilentProcess, home: string | undefined): string[][] {
  if (!("command" in one)) return [[`${one.pid}`, "", "", "", one.state]];
  const { pid, command, roots, clients, state, started_at, sessions } = one;
  const project = roots
    .map((root) => toOneLine(home && root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root))
    .join(" ");
  const row = [`${pid}`, command, project, toOneLine(clients[0] ?? ""), state, toTime(started_at)];
  if (sessions.length === 0) return [row];
  return sessions.map(({ session_id, title, state: doing }, at) => [
    ...(at === 0 ? row : ["", "", "", "", doing, ""]),
    `${session_id.slice(0, SHORT_ID_CHARS)} ${toOneLine(title)}`,
  ]);
}

const SHORT_ID_CHARS = 20;

const toTime = (iso: string): string => iso.slice(0, 16).replace("T", " ");
