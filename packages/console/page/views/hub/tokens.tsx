import { usePage } from "../../data/context.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toMoment } from "../../text/format.ts";
import type { Project, Token } from "./hub-data.ts";
import { ResourceTable } from "./resource-table.tsx";
import { Shown } from "./shown.tsx";
import { useHub } from "./use-hub.ts";

/** The tokens of this hub, and what each may do. */
export function Tokens({ projects }: { readonly projects: readonly Project[] }) {
  const { store } = usePage();
  const loaded = useHub<{ tokens: readonly Token[] }>("token.list");
  return (
    <Shown loaded={loaded}>
      {({ tokens }) => (
        <ResourceTable
          label="Tokens"
          rows={tokens}
          keyOf={({ token_id }) => token_id}
          columns={[
            { title: "Name", cell: ({ name }) => <Foreign text={name ?? "–"} /> },
            {
              title: "May use",
              cell: ({ scope }) => (
                <Badge tone={scope === "admin" ? "warn" : "plain"}>{inWords(scope, projects)}</Badge>
              ),
            },
            { title: "Id", cell: ({ token_id }) => <code>{token_id}</code> },
            {
              title: "Last used",
              isNumber: true,
              cell: ({ last_used_at }) => (last_used_at ? <Ago at={last_used_at} inWords /> : "never"),
            },
            {
              title: "Expires",
              isNumber: true,
              cell: ({ expires_at }) =>
                expires_at ? toMoment(Date.parse(expires_at), store.now.value) : "never",
            },
            { title: "Created", isNumber: true, cell: ({ created_at }) => <Ago at={created_at} inWords /> },
          ]}
        />
      )}
    </Shown>
  );
}

/** A scope such as `project:<id>:ro`, with the name of its project. */
function inWords(scope: string, projects: readonly Project[]): string {
  const [kind, id, mode] = scope.split(":");
  if (kind === "admin") return id === "ro" ? "everything, read only" : "everything";
  const name = projects.find(({ project_id }) => project_id === id)?.name ?? id;
  return mode === "ro" ? `${name}, read only` : String(name);
}
