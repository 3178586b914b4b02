import { toOneLine } from "@octant/core";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type Io, print, printJson } from "../command.ts";
import { startImplementation } from "../vectors/ask-command.ts";
import {
  checkOutput,
  DOMAINS,
  type Domain,
  findVectors,
  loadVectors,
  type VectorCase,
} from "../vectors/load-vectors.ts";

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
  octant vectors --command 'python3 vectors/python/implementation.py'
  octant vectors sse-frames --command ./my-implementation`,
  async run({ args, flags }, io) {
    // The parser accepts only names of domains.
    const domains = args.length === 0 ? DOMAINS : (args as readonly Domain[]);
    const folder = findVectors(flags.from);
    await using implementation =
      flags.command === undefined
        ? undefined
        : startImplementation(flags.command, { cwd: io.cwd(), env: io.env });
    const ask = implementation?.ask ?? (await import("../vectors/own.ts")).answerCase;
    const results: DomainResult[] = [];
    for (const domain of domains) results.push(await test(domain, loadVectors(folder, domain), ask));
    if (flags.json) printJson(results, io);
    else show(results, io);
    return results.some(({ failures }) => failures.length > 0) ? EXIT.FAILED : EXIT.OK;
  },
});

type Ask = (one: VectorCase) => Promise<unknown>;

interface DomainResult {
  readonly domain: Domain;
  readonly cases: number;
  readonly passed: number;
  readonly failures: readonly { readonly id: string; readonly sentence: string; readonly problem: string }[];
}

async function test(domain: Domain, cases: readonly VectorCase[], ask: Ask): Promise<DomainResult> {
  const failures: DomainResult["failures"][number][] = [];
  for (const one of cases) {
    const problem = checkOutput(one, await ask(one));
    if (problem !== undefined) failures.push({ id: one.id, sentence: one.sentence, problem });
  }
  return { domain, cases: cases.length, passed: cases.length - failures.length, failures };
}

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
