import { useLoad, usePage } from "../../data/context.ts";
import { Json, Loading, Problem } from "../../parts/parts.tsx";

/** What a new project can choose from, and the limits of this hub. */
export function Limits() {
  const { store } = usePage();
  const { data, error, reload } = useLoad("hub options", (signal) =>
    store.api.data<unknown>("hub", "project.options", {}, signal),
  );
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading />;
  return (
    <div class="part-body">
      <Json label="Limits" value={data} />
    </div>
  );
}
