import { action, ownerFor, ProcId, pagingInput } from "@octant/core";
import type { ProcessInfo } from "@octant/host";
import { z } from "zod";
import { INSPECT } from "../kinds.ts";
import { ending, Outcome, type ProcWorkspace, toOutcome } from "./answer.ts";

const OwnProcess = z.object({
  ...Outcome,
  command: z.string(),
  pid: z.int(),
  server_pid: z.int().optional().describe("Of a running one: the server that it takes input from"),
  started_at: z.number().describe("Milliseconds since 1970"),
  pty: z.boolean(),
  stdout_bytes: z.int(),
  stderr_bytes: z.int(),
});

const MachineProcess = z.object({
  pid: z.int(),
  ppid: z.int(),
  name: z.string(),
  started_at: z.number(),
  memory: z.int().describe("Resident bytes"),
});

export const ps = ({ processes }: ProcWorkspace) =>
  action({
    summary: "List processes started here, or all processes of the machine.",
    ...INSPECT,
    input: z.strictObject({
      filter: z.string().min(1).optional().describe("Text in its command, name or status"),
      all: z.boolean().default(false).describe("All processes of the machine; names only, never arguments"),
      ...pagingInput(50, 1_000),
    }),
    output: z.object({
      processes: z.array(OwnProcess).describe("Newest first"),
      unreadable: z
        .array(z.object({ proc_id: ProcId, why: z.enum(["newer version", "other shape"]) }))
        .optional()
        .describe("Of another version of Octant; first page"),
      machine: z.array(MachineProcess).optional(),
    }),
    errors: ["INVALID_CURSOR", "UNSUPPORTED"],
    examples: [
      { title: "My processes", input: {} },
      { title: "Running processes", input: { filter: "running" } },
    ],
    text({ processes: own, unreadable = [], machine = [] }) {
      const lines = [
        ...own.map((one) => `${one.proc_id}  pid ${one.pid}  ${ending(one)}  ${one.command}`),
        ...unreadable.map(({ proc_id, why }) => `${proc_id}  cannot be read: its record is of a ${why}`),
        ...machine.map(
          ({ pid, ppid, name, memory }) =>
            `${pid}  parent ${ppid}  ${Math.round(memory / 2 ** 20)} MiB  ${name}`,
        ),
      ];
      return { body: lines.join("\n") || "no processes" };
    },
    run({ filter = "", all, limit }, ctx) {
      if (all) {
        const after = ctx.resume(z.int()) ?? 0;
        const rows = processes.machine().filter(({ pid, name }) => pid > after && name.includes(filter));
        if (rows.length > limit) ctx.more(rows[limit - 1]?.pid);
        return { processes: [], machine: rows.slice(0, limit) };
      }
      const before = ctx.resume(ProcId);
      const page: ProcessInfo[] = [];
      for (const info of processes.list(ownerFor(ctx.caller), before)) {
        if (!info.command.includes(filter) && info.status !== filter) continue;
        if (page.length === limit) {
          ctx.more(page.at(-1)?.proc_id);
          break;
        }
        page.push(info);
      }
      const isFirst = before === undefined && filter === "";
      const unreadable = isFirst ? [...processes.listUnreadable(ownerFor(ctx.caller))].slice(0, limit) : [];
      return { processes: page.map(toOwnProcess), ...(unreadable.length > 0 && { unreadable }) };
    },
  });

const toOwnProcess = (info: ProcessInfo) => {
  const { command, pid, server_pid, started_at, pty, stdout_bytes, stderr_bytes } = info;
  const running = info.status === "running" && { server_pid };
  return { ...toOutcome(info), command, pid, ...running, started_at, pty, stdout_bytes, stderr_bytes };
};
