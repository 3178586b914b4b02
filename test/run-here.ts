import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { main as Main } from "../packages/cli/src/main.ts";
import type { Ended, OctantOptions } from "./octant-process.ts";
import { MAIN } from "./published-command.ts";

/** Runs the built command in this process, which is ten times cheaper; for tests that are not about the process. */
export async function runHere(
  args: readonly string[],
  { cwd, env = process.env, input = "" }: Pick<OctantOptions, "cwd" | "env" | "input">,
): Promise<Ended> {
  const { main } = (await import(pathToFileURL(MAIN).href)) as { readonly main: typeof Main };
  const [stdout, stderr] = [collect(), collect()];
  // A command uses no more of these streams than any stream has.
  const io = { stdin: Readable.from(input ? [input] : []), stdout, stderr, env, cwd: () => cwd };
  const before = process.exitCode;
  await main(args, io as unknown as Parameters<typeof Main>[1]);
  const code = Number(process.exitCode);
  process.exitCode = before;
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}

function collect() {
  const chunks: Buffer[] = [];
  const write = (chunk: Buffer, _encoding: unknown, done: () => void) => {
    chunks.push(chunk);
    done();
  };
  return Object.assign(new Writable({ write }), { text: () => Buffer.concat(chunks).toString() });
}
