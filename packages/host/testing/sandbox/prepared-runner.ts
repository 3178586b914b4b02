import { closeSync, openSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { createProcesses } from "../../src/processes/processes.ts";
import { STREAMS } from "../../src/processes/protocol.ts";
import { toOrder } from "../../src/sandbox/prepared.ts";
import type { Sandbox, SandboxedCommand } from "../../src/sandbox/sandbox.ts";
import type { AssignedCommand, Outcome } from "./probe-runner.ts";
import { waitingSandboxes } from "./waiting-sandboxes.ts";

const OWNER = "probe";
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_MS = 60_000;
const MAX_RUNS = 10;
const NOT_PREPARED: Outcome = { code: 0, stdout: "", stderr: "", prepared: true };

/** Runs commands as a server does, each in a sandbox that was prepared for it. */
export function createPreparedRunner(sandbox: Sandbox, root: string, folder: string) {
  let narrower: Partial<SandboxedCommand> = {};
  const processes = createProcesses({
    folder,
    env: process.env,
    sandbox: { ...sandbox, wrap: (command) => sandbox.wrap({ ...command, ...narrower }) },
  });
  const cwd = { fd: openSync(root, "r"), path: root };
  const never = new AbortController().signal;
  const run = async (argv: AssignedCommand["argv"], env: Readonly<Record<string, string>>) => {
    const { proc_id, pid } = await processes.start({ argv, cwd, env, owner: OWNER, label: "probe" });
    return { pid, info: await processes.exited(OWNER, proc_id, MAX_MS, never) };
  };
  /** Runs a command that does nothing first, so that the next sandbox is one of the same kind. */
  const runOnce = async (argv: AssignedCommand["argv"], env: Readonly<Record<string, string>>) => {
    const before = waitingSandboxes();
    await run(["true"], env);
    let waiting = before;
    while (waiting.every((pid) => before.includes(pid))) {
      await setImmediate();
      waiting = waitingSandboxes();
    }
    const { pid, info } = await run(argv, env);
    const [stdout = "", stderr = ""] = STREAMS.map((stream) =>
      processes.output(OWNER, info.proc_id, stream).read(0, MAX_OUTPUT_BYTES).bytes.toString(),
    );
    const code = info.exit_code ?? info.signal ?? "?";
    return { code, stdout, stderr, prepared: waiting.includes(pid) };
  };
  return {
    /** Again when a program of this machine has opened or closed a socket meanwhile, so that the plan is another one. */
    async run(
      argv: AssignedCommand["argv"],
      env: Readonly<Record<string, string>>,
      more: Partial<SandboxedCommand>,
    ): Promise<Outcome> {
      narrower = more;
      // Such as one with BASH_ENV: it always has a sandbox of its own, and is not run here.
      if (!toOrder({ argv, env, folder: root, pty: false })) return NOT_PREPARED;
      for (let n = 1; ; n++) {
        const outcome = await runOnce(argv, env);
        if (outcome.prepared || n === MAX_RUNS) return outcome;
      }
    },
    async [Symbol.asyncDispose]() {
      await processes.close();
      closeSync(cwd.fd);
    },
  };
}
