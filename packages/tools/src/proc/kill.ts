import { constants } from "node:os";
import { action, ownerFor } from "@octant/core";
import { z } from "zod";
import { VERIFY } from "../kinds.ts";
import { EXAMPLE_PROC, ending, Outcome, ProcIdInput, type ProcWorkspace, toOutcome } from "./answer.ts";

// The keys of the table are the names of the signals.
const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name);

/** Not an enum: every model would have to read thirty names. */
const Signal = z.string().refine(isSignal, "a signal has a name such as SIGTERM, SIGINT or SIGKILL");

export const kill = ({ processes }: ProcWorkspace) =>
  action({
    summary: "Stop a process and all its children.",
    ...VERIFY,
    unaskedIn: "sandbox",
    destructive: true,
    input: z.strictObject({
      proc_id: ProcIdInput,
      signal: Signal.optional().describe("Default SIGTERM, then SIGKILL after 2 s"),
    }),
    output: z.object(Outcome),
    errors: ["NOT_FOUND", "INTERRUPTED"],
    examples: [{ title: "Stop it", input: { proc_id: EXAMPLE_PROC }, fails: "NOT_FOUND" }],
    text: (data) => ({ body: `${data.proc_id}: ${ending(data)}` }),
    run: async ({ proc_id, signal }, { caller }) =>
      toOutcome(await processes.kill(ownerFor(caller), proc_id, signal)),
  });
