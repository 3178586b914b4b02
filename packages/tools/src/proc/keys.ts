import { invalidArgument } from "@octant/core";

const NAMED: Readonly<Record<string, string>> = {
  enter: "\r",
  tab: "\t",
  space: " ",
  escape: "\x1b",
  backspace: "\x7f",
  delete: "\x1b[3~",
  insert: "\x1b[2~",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  pageup: "\x1b[5~",
  pagedown: "\x1b[6~",
  f1: "\x1bOP",
  f2: "\x1bOQ",
  f3: "\x1bOR",
  f4: "\x1bOS",
  f5: "\x1b[15~",
  f6: "\x1b[17~",
  f7: "\x1b[18~",
  f8: "\x1b[19~",
  f9: "\x1b[20~",
  f10: "\x1b[21~",
  f11: "\x1b[23~",
  f12: "\x1b[24~",
};

const CTRL = /^ctrl-([a-z@[\\\]^_])$/;
const ALT = /^alt-(.+)$/;
const CONTROL_MASK = 0x1f;

/** The bytes that a terminal sends for the key. */
export function keyBytes(key: string): string {
  const name = key.toLowerCase();
  const named = NAMED[name];
  if (named !== undefined) return named;
  const control = CTRL.exec(name)?.[1];
  if (control !== undefined) return String.fromCharCode(control.charCodeAt(0) & CONTROL_MASK);
  const alt = ALT.exec(key)?.[1];
  if (alt !== undefined) return `\x1b${[...alt].length === 1 ? alt : keyBytes(alt)}`;
  const known = Object.keys(NAMED).join(", ");
  throw invalidArgument("keys", `there is no key '${key}'; use ctrl-a to ctrl-z, alt-…, ${known}`);
}

/** The effect of a key on a process without a terminal. */
export type PipeKey = { readonly signal: NodeJS.Signals } | { readonly text: string } | "eof";

export function pipeKey(key: string): PipeKey {
  switch (key.toLowerCase()) {
    case "ctrl-c":
      return { signal: "SIGINT" };
    case "ctrl-\\":
      return { signal: "SIGQUIT" };
    case "ctrl-d":
      return "eof";
    case "enter":
      return { text: "\n" };
    default:
      return { text: keyBytes(key) };
  }
}
