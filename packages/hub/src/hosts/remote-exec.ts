import { text } from "node:stream/consumers";
import { newHandle, type ToolError } from "@octant/core";
import type { HeldPlace } from "@octant/wire";
import type { ExecProcess, ExecSpec } from "../engines/engine.ts";

/** How long streams of an ended command answer a host that missed their last acknowledgement. */
const LINGER_MS = 10_000;

/** Starts a command in the container of a place; its streams end with the place. */
export async function execInPlace(
  place: HeldPlace,
  spec: ExecSpec & { readonly tools: boolean },
): Promise<ExecProcess> {
  const id = newHandle("exec", Date.now());
  const [stdout, stderr, exit] = ["out", "err", "exit"].map((name) => place.reader(id, name));
  if (!stdout || !stderr || !exit) throw new Error("a command has three streams");
  const close = () => {
    for (const one of [stdout, stderr, exit]) one.close();
  };
  try {
    await place.ask("exec", { id, ...spec });
  } catch (cause) {
    close();
    throw cause;
  }
  const stdin = place.writer(id, "in");
  const exited = text(exit).then(
    (code) => {
      stdin.destroy();
      setTimeout(close, LINGER_MS).unref();
      return code === "" ? null : Number(code);
    },
    (cause: ToolError) => {
      throw cause;
    },
  );
  // Nobody may wait for it.
  exited.catch(() => {});
  const kill = async () => {
    try {
      await place.ask("kill", { id });
    } catch (cause) {
      // A host that lost the place has ended its commands.
      if (!place.lost.aborted) throw cause;
    }
  };
  return { stdin, stdout, stderr, exited, kill };
}
