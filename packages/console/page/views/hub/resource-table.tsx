import { Failed } from "../../data/api.ts";
import { useLoad, usePage } from "../../data/context.ts";
import { Ago, Badge, Empty, Loading, Problem } from "../../parts/parts.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { columnsOf, rowsOf, toCell } from "./table-of.ts";

interface Props {
  readonly process: string;
  readonly action: string;
  readonly input: object;
  readonly title: string;
  readonly icon: string;
}

/** The answer of an action that lists things, as a table. */
export function ResourceTable({ process, action, input, title }: Props) {
  const { store } = usePage();
  const { data, error, reload } = useLoad(`${process} ${action} ${JSON.stringify(input)}`, (signal) =>
    store.api.data<Record<string, unknown>>(process, action, input, signal),
  );
  if (error instanceof Failed && (error.code === "UNKNOWN_TOOL" || error.code === "UNKNOWN_ACTION"))
    return (
      <Empty icon="hub" title={`This hub has no ${title}`}>
        The tool {action.split(".")[0]} is not enabled here.
      </Empty>
    );
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading />;
  const rows = rowsOf(data);
  if (rows.length === 0)
    return (
      <Empty icon="hub" title={`No ${title}`}>
        There are none yet; octant call {action.split(".")[0]}.help says how to make one.
      </Empty>
    );
  const columns = columnsOf(rows);
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={title}>
      <table class="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column.replaceAll("_", " ")}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>
                  <Cell value={row[column]} name={column} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ value, name }: { readonly value: unknown; readonly name: string }) {
  const cell = toCell(name, value);
  if (cell.kind === "time") return <Ago at={cell.at} />;
  if (cell.kind === "state") return <Badge tone={cell.tone}>{cell.text}</Badge>;
  return <Foreign text={cell.text} />;
}
