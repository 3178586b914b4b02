import { startImplementation } from "./ask-command.ts";
import {
  checkOutput,
  DOMAINS,
  type Domain,
  findVectors,
  loadVectors,
  type VectorCase,
} from "./load-vectors.ts";

export interface RunOptions {
  /** Default: all. */
  readonly domains?: readonly Domain[];
  /** A shell command that starts the implementation; default: Octant itself. */
  readonly command?: string;
  /** The folder with the vectors; default: those of this package. */
  readonly from?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface DomainResult {
  readonly domain: Domain;
  readonly cases: number;
  readonly passed: number;
  readonly failures: readonly { readonly id: string; readonly sentence: string; readonly problem: string }[];
}

/** Asks an implementation for the output of every case. A command that answers with no output is an error. */
export async function runVectors(options: RunOptions = {}): Promise<readonly DomainResult[]> {
  const { domains = DOMAINS, command, from, cwd = process.cwd(), env = process.env } = options;
  const folder = findVectors(from);
  await using implementation = command === undefined ? undefined : startImplementation(command, { cwd, env });
  const ask = implementation?.ask ?? (await import("./own.ts")).answerCase;
  const results: DomainResult[] = [];
  for (const domain of domains) results.push(await runDomain(domain, loadVectors(folder, domain), ask));
  return results;
}

async function runDomain(
  domain: Domain,
  cases: readonly VectorCase[],
  ask: (one: VectorCase) => Promise<unknown>,
): Promise<DomainResult> {
  const failures: DomainResult["failures"][number][] = [];
  for (const one of cases) {
    const problem = checkOutput(one, await ask(one));
    if (problem !== undefined) failures.push({ id: one.id, sentence: one.sentence, problem });
  }
  return { domain, cases: cases.length, passed: cases.length - failures.length, failures };
}
