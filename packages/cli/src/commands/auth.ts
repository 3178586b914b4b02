import { listCredentials } from "@octant/app";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, print, printJson } from "../command.ts";

export const auth = defineCommand({
  name: "auth",
  summary: "Show where credentials for models come from",
  arguments: [{ name: "status", kind: ["status"], optional: true }],
  flags: { json: { summary: "Print as JSON" } },
  notes:
    "Without --provider, the first of these with credentials is used, in this order. No secret is shown.",
  async run({ flags }, io) {
    const rows = await listCredentials({ env: io.env, cwd: io.cwd() });
    if (flags.json) return printJson(rows, io);
    const shown = rows.map(({ provider, source, detail, used: isUsed }) => [
      provider,
      source ?? "none",
      detail ?? "",
      isUsed ? "used" : "",
    ]);
    const table = toColumns([["provider", "credentials from", "", ""], ...shown]).join("\n");
    return print(table, io, rows.some(({ used }) => used) ? EXIT.OK : EXIT.FAILED);
  },
});
