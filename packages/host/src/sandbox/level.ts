import type { Mount } from "./mount.ts";
import type { Launch, SandboxedCommand } from "./sandbox.ts";
import type { SandboxLevel } from "./settings.ts";

/** A way to isolate a command, on a machine that supports it. */
export interface Level {
  readonly level: SandboxLevel;
  /** What the level guarantees, in one sentence for people. */
  readonly detail: string;
  /** Commands see a composed tree with a private temp folder. */
  readonly binds: boolean;
  launch(command: SandboxedCommand, place: CommandPlace): Launch;
}

export interface CommandPlace {
  readonly mounts: readonly Mount[];
  /** A folder of ours, bound at EXCHANGE. */
  readonly exchange?: string | undefined;
  /** Not the machine's. */
  readonly ownNetwork: boolean;
  /** Put over `mounts`, for this one command; only bubblewrap can. */
  readonly over?: readonly Mount[];
}
