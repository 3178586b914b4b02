import { usePage, useProcess } from "../data/context.ts";
import { titleOf } from "../data/roster.ts";
import { toVisible } from "../text/visible.ts";

/** Chooses the process that the view shows, or with `all` none; hidden when there is only one. */
export function ProcessPicker({ all = false }: { readonly all?: boolean }) {
  const { store, router } = usePage();
  const chosen = useProcess();
  const processes = store.processes.value ?? [];
  if (processes.length < 2) return null;
  return (
    <select
      class="select"
      aria-label="Process"
      value={all ? (router.route.value.query["process"] ?? "") : chosen?.id}
      onChange={({ currentTarget }) => router.filter({ process: currentTarget.value })}
    >
      {all && <option value="">All processes</option>}
      {processes.map((process) => (
        <option key={process.id} value={process.id}>
          {toVisible(`${titleOf(process)} (${process.pid})`)}
        </option>
      ))}
    </select>
  );
}
