import { DOMAINS, type Domain, type DomainResult, runVectors } from "@octant/conformance";
import { toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type Io, print, printJson } from "../command.ts";

const SHOWN_FAILURES = 20;

export const vectors = defineCommand({
  name: "vectors",
  summary: "Test an implementation of the agent runtime against the shared vectors",
  arguments: [{ name: "DOMAIN", kind: DOMAINS, many: true }],
  flags: {
    command: { summary: "The implementation to test; default Octant itself", value: "COMMAND" },
    from: { summary: "The folder with the vectors", value: "DIR" },
    json: { summary: "Print the result as JSON" },
  },
  notes: `The command gets one JSON object a line, {"id", "domain", "input"}, and answers each with one line:
{"id", "output"}. For example:
  octant vectors
  octant vectors --command 'python3 vectors/implementations/python/implementation.py'
  octant vectors sse-frames --command ./my-implementation`,
  async run({ args, flags }, io) {
    const { command, from } = flags;
    // The parser accepts only names of domains.
    const domains = args.length === 0 ? DOMAINS : (args as readonly Domain[]);
    const results = await runVectors({ domains, command, from, cwd: io.cwd(), env: io.env });
    if (flags.json) printJson(results, io);
    else show(results, io);
    return results.some(({ failures }) => failures.length > 0) ? EXIT.FAILED : EXIT.OK;
  },
});

function show(results: readonly DomainResult[], io: Io): void {
  const rows = results.map(({ domain, passed, failures }) => [
    domain,
    String(passed),
    String(failures.length),
  ]);
  print(toColumns([["domain", "passed", "failed"], ...rows]).join("\n"), io);
  const failures = results.flatMap((result) => result.failures);
  for (const { id, sentence, problem } of failures.slice(0, SHOWN_FAILURES))
    print(`\n${id}: ${toOneLine(sentence)}\n  ${toOneLine(problem)}`, io);
  if (failures.length > SHOWN_FAILURES)
    print(`\n${failures.length - SHOWN_FAILURES} more; --json shows all`, io);
}
