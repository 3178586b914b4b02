import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Install, type Machine, thisMachine, typedCommand } from "@octant/app";
import { type Io, print } from "./command.ts";
import { COMMAND_NAMES } from "./commands/index.ts";

/** The machine and folder of this command. */
export const toMachine = ({ env, cwd }: Pick<Io, "env" | "cwd">): Machine => thisMachine(env, cwd());

/** Our command as the person at this terminal types it. */
export const personCommand = (io: Pick<Io, "env" | "cwd">): string => typedCommand(toMachine(io));

/** A text for a person, with our commands as they have to type them. */
export const asTyped = (text: string, io: Pick<Io, "env" | "cwd">): string =>
  text.replaceAll(OWN_COMMAND, () => personCommand(io));

/** Prints a message, rather than a result, of a command. */
export const tell = (text: string, io: Io): number => print(asTyped(text, io), io);

const OWN_COMMAND = new RegExp(`(?<![\\w/@.~-]|npx )octant(?= (?:${COMMAND_NAMES.join("|")}|--)\\b)`, "g");

/** The package is one folder above the sources and the build output. */
export function thisInstall(): Install {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const launcher = join(folder, "bin/octant.js");
    if (existsSync(launcher)) return { launcher, node: process.execPath };
  }
  throw new Error("bin/octant.js of this package is missing");
}
