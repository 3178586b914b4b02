import { styleText } from "node:util";
import { toVisible, toVisibleJson } from "@octant/core";
import type { Io } from "./command.ts";

/**
 * The only way from a command to stdout and stderr. Text may come from a model, a server, a file or a file's name, so
 * on a terminal its control characters are shown, not obeyed; a pipe receives stdout as it is.
 */
export type Shown = string | Painted | readonly (string | Painted)[];

/** Text whose escape sequences are all our own. */
export class Painted {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Format = Parameters<typeof styleText>[0];
type Stream = NodeJS.WriteStream;

/** A text in colour, where the stream has colours. */
export const painted = (format: Format, text: string, stream: Stream): Painted =>
  new Painted(styleText(format, toVisible(text), { stream }));

/** Writes a part of the result; nothing is added to it. */
export const write = (shown: Shown, { stdout }: Pick<Io, "stdout">): boolean =>
  stdout.write(toText(shown, stdout.isTTY ? toVisible : asItIs));

/** Writes the result of a command to stdout; returns the exit code. */
export function print(shown: Shown, io: Pick<Io, "stdout">, code = 0): number {
  write([...partsOf(shown), "\n"], io);
  return code;
}

export const printJson = (value: unknown, io: Pick<Io, "stdout">): number =>
  printJsonText(JSON.stringify(value, null, 2), io);

/** A program receives the JSON as it is. On a terminal characters are escaped, which means the same. */
export function printJsonText(json: string, { stdout }: Pick<Io, "stdout">, code = 0): number {
  stdout.write(`${stdout.isTTY ? toVisibleJson(json) : json}\n`);
  return code;
}

/** Writes to stderr, which people read: without a new line at the end for a prompt. */
const writeNote = (shown: Shown, { stderr }: Pick<Io, "stderr">): boolean =>
  stderr.write(toText(shown, toVisible));

/** A line on stderr. */
export const note = (shown: Shown, io: Pick<Io, "stderr">): boolean =>
  writeNote([...partsOf(shown), "\n"], io);

const CLEAR_LINE = new Painted("\r\x1b[K");

/** A line on stderr that the next one replaces; terminals only. */
export const showBriefly = (line: string, io: Pick<Io, "stderr">): boolean =>
  io.stderr.isTTY && writeNote([CLEAR_LINE, line], io);

const asItIs = (text: string): string => text;

const toText = (shown: Shown, toShown: (text: string) => string): string =>
  partsOf(shown)
    .map((part) => (part instanceof Painted ? part.text : toShown(part)))
    .join("");

const partsOf = (shown: Shown): readonly (string | Painted)[] =>
  typeof shown === "string" || shown instanceof Painted ? [shown] : shown;
