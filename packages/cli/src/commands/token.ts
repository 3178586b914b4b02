import { toOneLine } from "@octant/core";
import { isScope, type Scope } from "@octant/http";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, print, printJson, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { workspaceFlags } from "../workspace-flags.ts";

export const token = defineCommand({
  name: "token",
  summary: "Create, list and revoke bearer tokens for HTTP clients",
  arguments: [
    { name: "create|list|revoke", kind: ["create", "list", "revoke"] },
    { name: "ID", optional: true },
  ],
  flags: {
    ...workspaceFlags,
    scope: {
      summary: "admin (the default), admin:ro, or for this workspace only: project, project:ro",
      value: "SCOPE",
      many: true,
    },
    name: { summary: "A note about its purpose", value: "TEXT" },
    json: { summary: "Print as JSON" },
  },
  notes: "A token is shown once, when it is made; only its hash is stored.",
  async run({ args: [verb, id], flags }, io) {
    await using octant = await openOctant({ ...flags, pack: undefined }, io);
    const tokens = octant.tokens();
    if (verb === "create") {
      const made = tokens.create({
        scopes: toScopes(flags.scope, octant.workspace.state.id),
        ...(flags.name && { name: flags.name }),
      });
      return flags.json ? printJson(made, io) : print(made.token, io);
    }
    if (verb === "list") {
      const all = tokens.list();
      if (flags.json) return printJson(all, io);
      const rows = all.map((one) => [
        one.id,
        one.scopes.join(","),
        one.created,
        one.expires ?? "never",
        toOneLine(one.name),
      ]);
      return print(toColumns([["id", "scopes", "made", "ends", "name"], ...rows]).join("\n"), io);
    }
    if (id === undefined)
      throw new UsageError("octant token revoke needs an ID", "octant token list shows the ids");
    return tokens.revoke(id) ? print("revoked", io) : print("there is no such token", io, EXIT.FAILED);
  },
});

/** `project` alone means this workspace. */
function toScopes(given: readonly string[], project: string): readonly Scope[] {
  const scopes = given.map((scope) => scope.replace(/^project(?=$|:ro$)/, `project:${project}`));
  const wrong = given[scopes.findIndex((scope) => !isScope(scope))];
  if (wrong !== undefined)
    throw new UsageError(`invalid scope '${wrong}'`, "scopes: admin, admin:ro, project, project:ro");
  return scopes.length > 0 ? scopes.filter(isScope) : ["admin"];
}
