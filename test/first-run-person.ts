import { PassThrough, Writable } from "node:stream";
import type { Io } from "../packages/cli/src/command.ts";
import { type FirstRunOptions, firstRun } from "../packages/cli/src/first-run.ts";

/** A person at the first run, on streams instead of a terminal. `onText` receives everything that is shown. */
export function startFirstRun(
  { env, cwd, provider }: { env: NodeJS.ProcessEnv; cwd: string; provider?: FirstRunOptions["provider"] },
  onText: (text: string) => void,
): { type(line: string): void; readonly done: Promise<boolean> } {
  const stdin = new PassThrough();
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      onText(String(chunk));
      done();
    },
  });
  // The streams of a process have more than the first run needs.
  const io = { stdin, stdout, env, cwd: () => cwd } as unknown as Io;
  return {
    type: (line) => void stdin.write(`${line}\n`),
    done: firstRun({ provider, root: [cwd], io }),
  };
}
