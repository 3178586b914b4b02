import { Failed } from "../../data/api.ts";
import { usePage } from "../../data/context.ts";
import type { TestFailure, TestRun } from "../../data/tool-data.ts";
import { Badge, Dot } from "../../parts/badge.tsx";
import { Problem } from "../../parts/problem.tsx";
import { toHash } from "../../shell/route.ts";
import { Foreign } from "../../text/foreign.tsx";
import { counted, toDuration, toPath } from "../../text/format.ts";
import { type TestNode, toTestTree } from "./test-tree.ts";

interface Props {
  readonly run: TestRun | undefined;
  readonly error: unknown;
  readonly lines: readonly string[];
  readonly process: string;
}

const FINE: ReadonlySet<string> = new Set(["passed", "running"]);

/** A test run as a tree; failures are linked to their file and line. */
export function TestResults({ run, error, lines, process }: Props) {
  const tree = toTestTree(lines, run?.failures ?? []);
  const { code, message } = Object(error);
  return (
    <>
      {run && (
        <p class="test-counts number">
          <Badge tone={FINE.has(run.status) ? "good" : "bad"}>{run.status}</Badge>
          <span class="good-text">{run.pass} passed</span>
          {run.fail > 0 && <span class="bad-text">{run.fail} failed</span>}
          {run.skip > 0 && <span class="calm">{run.skip} skipped</span>}
          <span class="calm">{toDuration(run.duration)}</span>
        </p>
      )}
      {run?.reason && (
        <p class="calm">
          <Foreign text={run.reason} />
        </p>
      )}
      {code === "CANCELLED" && <p class="calm">The run was cancelled. Its results until then:</p>}
      {typeof message === "string" && code !== "CANCELLED" && <Problem error={new Failed(code, message)} />}
      <ul class="test-tree">
        {tree.map((node) => (
          <Node key={node.name} node={node} process={process} />
        ))}
      </ul>
      {run && run.more_failures > 0 && (
        <p class="calm">{counted(run.more_failures, "more failure")} in octant call test.status.</p>
      )}
    </>
  );
}

const TONES = { pass: "good", fail: "bad", skip: "plain" } as const;

function Node({ node, process }: { readonly node: TestNode; readonly process: string }) {
  const { pass, fail, skip } = node.counts;
  if (node.children.length > 0)
    return (
      <li>
        <details open={fail > 0}>
          <summary>
            <Dot tone={fail > 0 ? "bad" : "good"} />
            <Foreign text={node.name} oneLine />
            <span class="calm number">
              {fail > 0 ? (
                <span class="bad-text">
                  {fail} of {pass + fail + skip} failed
                </span>
              ) : (
                pass + fail + skip
              )}
            </span>
          </summary>
          <ul class="test-tree">
            {node.children.map((child) => (
              <Node key={child.name} node={child} process={process} />
            ))}
          </ul>
        </details>
      </li>
    );
  return (
    <li>
      <div class="test-line">
        <Dot tone={TONES[node.outcome ?? "skip"]} />
        <Foreign text={node.name} oneLine />
        <span class="unseen">{node.outcome}</span>
        {node.duration && (
          <span class="calm number">
            <Foreign text={node.duration} oneLine />
          </span>
        )}
      </div>
      {node.failure && <Failure failure={node.failure} process={process} />}
    </li>
  );
}

function Failure({
  failure: { message, uri, range, expected, actual },
  process,
}: {
  readonly failure: TestFailure;
  readonly process: string;
}) {
  const { store } = usePage();
  const roots = store.processes.value?.find(({ id }) => id === process)?.roots ?? [];
  const line = range ? range.start.line + 1 : undefined;
  return (
    <div class="test-failure">
      {uri && (
        <a
          href={toHash("files", toPath(uri, roots), {
            process,
            line: line === undefined ? undefined : String(line),
          })}
        >
          <Foreign text={`${toPath(uri, roots)}${line === undefined ? "" : `:${line}`}`} oneLine />
        </a>
      )}
      <pre class="code" tabIndex={0} role="region" aria-label="Message">
        <Foreign text={message} />
      </pre>
      {expected !== undefined && actual !== undefined && !message.includes(expected) && (
        <dl class="facts">
          <div>
            <dt>Expected</dt>
            <dd>
              <code>
                <Foreign text={expected} />
              </code>
            </dd>
          </div>
          <div>
            <dt>Actual</dt>
            <dd>
              <code>
                <Foreign text={actual} />
              </code>
            </dd>
          </div>
        </dl>
      )}
    </div>
  );
}
