import { toOneLine } from "@octant/core";
import { isScope, type Scope } from "@octant/http";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, UsageError } from "../command.ts";
import { openOctant } from "../open-octant.ts";
import { workspaceFlags } from "../workspace-flags.ts";

const VERBS = ["create", "list", "revoke"] as const;

export const token = defineCommand({
  name: "token",
  summary: "Create, list and revoke bearer tokens for HTTP clients",
  arguments: [
    { name: "create|list|revoke", kind: VERBS },
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
    await using octant = openOctant(flags, io);
    const tokens = octant.tokens();
    const print = (text: string) => io.stdout.write(`${text}\n`);
    if (verb === "create") {
      const made = tokens.create({
        scopes: toScopes(flags.scope, octant.workspace.state.id),
        ...(flags.name && { name: flags.name }),
      });
      print(flags.json ? JSON.stringify(made, null, 2) : made.token);
      return EXIT.OK;
    }
    if (verb === "list") {
      const all = tokens.list();
      if (flags.json) print(JSON.stringify(all, null, 2));
      else {
        const rows = all.map((one) => [
          one.id,
          one.scopes.join(","),
          one.created,
          one.expires ?? "never",
          toOneLine(one.name),
        ]);
        print(toColumns([["id", "scopes", "made", "ends", "name"], ...rows]).join("\n"));
      }
      return EXIT.OK;
    }
    if (verb !== "revoke" || id === undefined)
      throw new UsageError(
        "octant token takes create, list, or revoke and an id",
        "octant token list shows the ids",
      );
    const gone = tokens.revoke(id);
    print(gone ? "revoked" : "there is no such token");
    return gone ? EXIT.OK : EXIT.FAILED;
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
