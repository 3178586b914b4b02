import { declineTrust, isDeclined, trustWaiting, type Waiting } from "@octant/app";
import { type LineReader, openLineReader } from "@octant/runtime";
import type { Io } from "./command.ts";
import { findWaiting, showWaiting } from "./commands/trust.ts";
import { asTyped } from "./person-command.ts";
import { isYes } from "./questions.ts";

/**
 * Asks about everything of the project that waits for trust, unless the person has declined exactly this before.
 * Returns false when they leave.
 */
export async function askAtStart(root: readonly string[], folder: string, io: Io): Promise<boolean> {
  // The warnings of the settings were already printed.
  const waiting = await findWaiting(root, io, () => {});
  if (isDeclined(waiting, folder)) return true;
  using questions = openLineReader({ input: io.stdin, output: io.stdout });
  const isTrusted = await askForTrust(waiting, questions, io);
  if (isTrusted === false) declineTrust(waiting, folder);
  return isTrusted !== undefined;
}

/** Without a yes the project's own hooks, servers and instructions have no effect; undefined when the person leaves. */
export async function askForTrust(
  waiting: Waiting,
  questions: LineReader,
  io: Io,
): Promise<boolean | undefined> {
  if (waiting.count === 0) return true;
  questions.say("This folder contains settings and instructions for the agent:\n");
  showWaiting(waiting, io);
  const answer = await questions.ask("\nLet all of this take effect? [y/N] ");
  if (answer === undefined) return undefined;
  if (isYes(answer)) await trustWaiting(waiting, { env: io.env });
  else questions.say(asTyped("not trusted; octant trust asks again", io));
  return isYes(answer);
}
