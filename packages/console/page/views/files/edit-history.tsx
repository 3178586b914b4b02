import { useLoad, usePage } from "../../data/context.ts";
import { Ago } from "../../parts/ago.tsx";
import { Badge } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toPath } from "../../text/format.ts";

interface Props {
  readonly process: string;
  readonly roots: readonly string[];
  readonly file: string | undefined;
}

/** The calls that changed files, newest first, and by whom. */
export function EditHistory({ process, roots, file }: Props) {
  const { store } = usePage();
  const { data, error, reload } = useLoad(`${process} ${file}`, (signal) =>
    store.api.person(process, "edits", { limit: 200, ...(file !== undefined && { file }) }, signal),
  );
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading />;
  /** Changes without the names of their files are listed for the project, and for none of its files. */
  const isComplete = data.names_files || file === undefined;
  if (data.edits.length === 0)
    return (
      <Empty
        icon="files"
        title="No recorded changes"
        {...(isComplete ? {} : { command: '"audit": { "arguments": "full" }' })}
      >
        {isComplete
          ? "Changes that agents make with the tools appear here, with who made them."
          : "Only changes of sessions are listed by file, because the audit log does not record file names. Add this to ~/.config/hanzo/settings.json for those of other clients:"}
      </Empty>
    );
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="History of changes">
      <table class="table">
        <thead>
          <tr>
            <th>When</th>
            <th>Action</th>
            <th>Files</th>
            <th>By</th>
            <th>Outcome</th>
          </tr>
        </thead>
        <tbody>
          {data.edits.map((edit) => (
            <tr key={`${edit.trace}${edit.time}`}>
              <td>
                <Ago at={edit.time} />
              </td>
              <td>
                <a
                  href={
                    edit.trace === ""
                      ? toHash("sessions", edit.session, { process })
                      : toHash("live", edit.trace, { process })
                  }
                >
                  <code>
                    <Foreign text={edit.action} oneLine />
                  </code>
                </a>
              </td>
              <td>
                {edit.files.length === 0 ? (
                  <span class="calm">not recorded</span>
                ) : (
                  <Foreign text={edit.files.map((one) => toPath(one, roots)).join(", ")} />
                )}
              </td>
              <td>
                <Foreign text={edit.session_title || edit.caller} />
              </td>
              <td>
                <Badge tone={edit.code === "OK" ? "good" : "bad"}>{edit.code}</Badge>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
