import { resolve } from "node:path";
import { auditPlaceOf } from "@octant/app";
import { counted, toOneLine } from "@octant/core";
import { createConfinement, openStateFolder } from "@octant/host";
import {
  type AuditVerdict,
  type ChainRecord,
  describeRecord,
  followAudit,
  listOlderFiles,
  readAudit,
  verifyAudit,
} from "@octant/runtime";
import { defineCommand, EXIT, type Io, print, toCount } from "../command.ts";
import { painted, printJsonText, type Shown } from "../output.ts";
import { logLine, rootsOf, workspaceFlags } from "../workspace-flags.ts";

const DEFAULT_LIMIT = 50;

export const audit = defineCommand({
  name: "audit",
  summary: "Show calls and decisions, or verify that the audit log is intact",
  arguments: [{ name: "verify", kind: ["verify"], optional: true }],
  flags: {
    root: workspaceFlags.root,
    follow: { summary: "Keep printing new records" },
    limit: {
      summary: `Print at most this many of the newest records; ${DEFAULT_LIMIT} by default`,
      value: "COUNT",
    },
    json: { summary: "Print one JSON object per line" },
  },
  notes: `octant audit verify exits with 0 when the record is whole, and with 1 when records were changed or removed,
the whole log or the whole state of this folder included. Old records that retention dropped
(audit.keep_bytes in the settings) are counted and are not a change.`,
  async run({ args: [verb], flags }, io) {
    const { folder, witnesses, key } = openAudit(rootsOf(flags, io), io);
    const older = listOlderFiles(folder);
    if (older.length > 0)
      logLine(
        `${folder} has the audit log of an earlier version, which is not read: ${older.join(", ")}`,
        io,
      );
    if (verb === "verify") return reportVerdict(await verifyAudit(folder, key, witnesses), flags.json, io);
    const limit = toCount("limit", flags.limit) ?? DEFAULT_LIMIT;
    const interrupt = new AbortController();
    if (flags.follow) process.once("SIGINT", () => interrupt.abort());
    const onDamage = (file: string) => logLine(`${file} is damaged; some of its records are not shown`, io);
    const records = flags.follow
      ? followAudit(folder, interrupt.signal, { last: limit, onDamage })
      : readAudit(folder, { limit, onDamage });
    for await (const record of records)
      if (flags.json) printJsonText(JSON.stringify(record), io);
      else print(toLine(record, io), io);
    return EXIT.OK;
  },
});

function openAudit(roots: readonly string[], io: Io) {
  const real = createConfinement(roots.map((root) => resolve(io.cwd(), root))).roots;
  return auditPlaceOf(openStateFolder({ roots: real, env: io.env, warn: (line) => logLine(line, io) }));
}

function toLine(record: ChainRecord, { stdout }: Io): Shown {
  const [time = "", ...rest] = describeRecord(record).map(toOneLine);
  return [painted("dim", time, stdout), ...rest.map((fact) => `  ${fact}`)];
}

const NO_RECORDS =
  "no records: nothing was recorded for this folder yet, or all state of Octant was removed with them";

function reportVerdict(verdict: AuditVerdict, json: boolean, io: Io): number {
  const { ok, records, dropped, chains, problems } = verdict;
  const code = ok ? EXIT.OK : EXIT.FAILED;
  if (json) return printJsonText(JSON.stringify(verdict), io, code);
  const places = problems.map(({ file, line, what }) =>
    toOneLine(line === null ? `${file}: ${what}` : `${file}:${line}: ${what}`),
  );
  const before = dropped === 0 ? "" : `; ${dropped} older ones were dropped (audit.keep_bytes)`;
  if (ok && records + dropped === 0) return print(NO_RECORDS, io, code);
  const sum = ok
    ? `whole: ${counted(records, "record")} in ${counted(chains, "chain")}${before}`
    : `changed: ${counted(problems.length, "problem")}`;
  return print([sum, ...places].join("\n"), io, code);
}
