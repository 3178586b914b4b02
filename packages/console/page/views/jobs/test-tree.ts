import type { TestFailure } from "../../data/tool-data.ts";

/** A suite or a test of a run. */
export interface TestNode {
  readonly name: string;
  readonly outcome?: "pass" | "fail" | "skip";
  readonly duration?: string;
  readonly failure?: TestFailure;
  readonly children: readonly TestNode[];
  readonly counts: { readonly pass: number; readonly fail: number; readonly skip: number };
}

interface Draft {
  name: string;
  outcome?: TestNode["outcome"];
  duration?: string;
  failure?: TestFailure;
  children: Map<string, Draft>;
}

const LINE = /^(pass|fail|skip) (.*?)(?: \((\d+ ms)\))?$/;

/** Builds the tree from the lines of a run's log (`pass suite > test (3 ms)`) and from its failures. */
export function toTestTree(lines: readonly string[], failures: readonly TestFailure[]): readonly TestNode[] {
  const root: Draft = { name: "", children: new Map() };
  const at = (path: readonly string[]): Draft =>
    path.reduce((node, name) => {
      const child = node.children.get(name) ?? { name, children: new Map() };
      node.children.set(name, child);
      return child;
    }, root);
  for (const line of lines) {
    const [, outcome, path = "", duration] = LINE.exec(line) ?? [];
    if (outcome !== "pass" && outcome !== "fail" && outcome !== "skip") continue;
    Object.assign(at(path.split(" > ")), { outcome, ...(duration && { duration }) });
  }
  for (const failure of failures)
    Object.assign(at([...(failure.suite ?? []), failure.name]), { outcome: "fail", failure });
  return finish(root).children;
}

function finish({ name, outcome, duration, failure, children }: Draft): TestNode {
  const finished = [...children.values()].map(finish);
  const own = { pass: 0, fail: 0, skip: 0 };
  if (outcome && finished.length === 0) own[outcome]++;
  const counts = finished.reduce(
    (sum, node) => ({
      pass: sum.pass + node.counts.pass,
      fail: sum.fail + node.counts.fail,
      skip: sum.skip + node.counts.skip,
    }),
    own,
  );
  // Failures first: they are what one looks for.
  finished.sort((a, b) => Number(b.counts.fail > 0) - Number(a.counts.fail > 0));
  return {
    name,
    children: finished,
    counts,
    ...(outcome && { outcome }),
    ...(duration && { duration }),
    ...(failure && { failure }),
  };
}
