import { usePage, useProcess, useProcesses } from "../data/context.ts";
import { choiceOf } from "../data/roster.ts";
import { toVisible } from "../text/visible.ts";

/** Chooses the process that the view shows, of those with its tool, or with `all` none; hidden when there is only one. */
export function ProcessPicker({ tool, all = false }: { readonly tool?: string; readonly all?: boolean }) {
  const { router } = usePage();
  const chosen = useProcess(tool);
  const processes = useProcesses(tool);
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
          {toVisible(choiceOf(process))}
        </option>
      ))}
    </select>
  );
}
