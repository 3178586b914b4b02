import { useLoad, usePage } from "../../data/context.ts";
import { Badge } from "../../parts/badge.tsx";
import { Fact } from "../../parts/fact.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Foreign } from "../../text/foreign.tsx";

/** The sandbox of commands here, tested at the start of the process. */
export function SandboxPart({ process }: { readonly process: string }) {
  const { store } = usePage();
  const { data, error, reload } = useLoad(`sandbox ${process}`, (signal) =>
    store.api.person(process, "sandbox", {}, signal),
  );
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading label="Testing the sandbox" />;
  return (
    <div class="part-body">
      <p>
        <Badge tone={data.unconfined === null ? "good" : "bad"}>
          {data.unconfined === null ? "Commands are confined" : "Commands are not confined"}
        </Badge>
      </p>
      <dl class="facts">
        <Fact name="Level" text={data.level} />
        <Fact name="Mode" text={data.mode} />
        <Fact name="Detail" text={data.detail} />
        {data.limits !== undefined && <Fact name="Limits" text={data.limits} />}
        {data.unmet !== undefined && <Fact name="Commands are refused" text={data.unmet} />}
        {data.unconfined !== null && <Fact name="Why" text={data.unconfined} />}
      </dl>
      <h2>Self-test</h2>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Self-test">
        <table class="table">
          <thead>
            <tr>
              <th>Level</th>
              <th>Works</th>
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {data.tried.map(({ level, works, why }) => (
              <tr key={level}>
                <td>
                  <Foreign text={level} oneLine />
                </td>
                <td>
                  <Badge tone={works ? "good" : "plain"}>{works ? "yes" : "no"}</Badge>
                </td>
                <td>
                  <Foreign text={why} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
