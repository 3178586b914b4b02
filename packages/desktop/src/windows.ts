import { ToolError } from "@octant/core";
import { invalid } from "@octant/host";
import { type Desktop, noKey, noModifier, POWERSHELL, parseChord } from "./program.ts";
import type { Point, ScreenBackend } from "./screen.ts";
import { WINDOWS_SCRIPT } from "./windows-script.ts";

/** The inputs for Windows, in order: numbers of the SendInput function. */
type Event =
  | readonly ["move", x: number, y: number]
  | readonly ["mouse", flags: number, data: number]
  /** By its virtual key code. */
  | readonly ["key", code: number, flags: number]
  /** A UTF-16 unit as it is, or the key that has it on the keyboard. */
  | readonly ["unit" | "keyof", unit: number, flags: number]
  | readonly ["pause", ms: number];

interface Answer {
  readonly width: number;
  readonly height: number;
  readonly outside?: readonly [number, number];
  readonly windows?: readonly (readonly [
    id: string,
    title: string,
    pid: number,
    x: number,
    y: number,
    width: number,
    height: number,
    active: boolean,
  ])[];
  readonly active?: boolean;
  readonly png?: string;
}

const BUTTONS = { left: [0x02, 0x04], right: [0x08, 0x10], middle: [0x20, 0x40] } as const;
const WHEEL = 0x800;
const WHEEL_SIDEWAYS = 0x1000;
const WHEEL_STEP = 120;
const MAX_SCROLL_STEPS = 100;
const DRAG_STEPS = 12;
const DRAG_PAUSE_MS = 20;
const CLICK_PAUSE_MS = 60;
const UP = 2;
/** Without it the key is the one of the number pad. */
const EXTENDED = 1;

const MODIFIERS: Readonly<Record<string, number>> = {
  control: 0x11,
  ctrl: 0x11,
  alt: 0x12,
  shift: 0x10,
  meta: 0x5b,
  win: 0x5b,
  cmd: 0x5b,
  command: 0x5b,
};
const KEYS: Readonly<Record<string, number>> = {
  enter: 0x0d,
  return: 0x0d,
  escape: 0x1b,
  esc: 0x1b,
  backspace: 0x08,
  tab: 0x09,
  space: 0x20,
  " ": 0x20,
  ...MODIFIERS,
};
const EXTENDED_KEYS: Readonly<Record<string, number>> = {
  pageup: 0x21,
  pagedown: 0x22,
  end: 0x23,
  home: 0x24,
  insert: 0x2d,
  delete: 0x2e,
  arrowleft: 0x25,
  arrowup: 0x26,
  arrowright: 0x27,
  arrowdown: 0x28,
  left: 0x25,
  up: 0x26,
  right: 0x27,
  down: 0x28,
};
const F1 = 0x70;

/** The Windows desktop through PowerShell, from WSL too. Unverified: written without Windows. */
export function createWindows(desktop: Desktop): ScreenBackend {
  const ask = async (request: object, signal: AbortSignal): Promise<Answer> => {
    const args = ["-NoProfile", "-NonInteractive", "-InputFormat", "Text", "-OutputFormat", "Text"];
    const command = Buffer.from(WINDOWS_SCRIPT, "utf16le").toString("base64");
    const output = await desktop.run(
      POWERSHELL,
      [...args, "-EncodedCommand", command],
      signal,
      toAscii(request),
    );
    // The script above has written it.
    return JSON.parse(Buffer.from(output.toString(), "base64").toString()) as Answer;
  };
  const send = async (events: readonly Event[], signal: AbortSignal): Promise<void> => {
    const { outside, width, height } = await ask({ op: "input", events }, signal);
    if (outside)
      throw invalid(
        "target",
        `${outside.join(",")} is not on the main screen, which has ${width}x${height} pixels`,
      );
  };

  return {
    size: (signal) => ask({ op: "size" }, signal),
    click(point, { button, count, modifiers }, signal) {
      const [down, up] = BUTTONS[button];
      const once: readonly Event[] = [
        ["mouse", down, 0],
        ["mouse", up, 0],
        ["pause", CLICK_PAUSE_MS],
      ];
      const clicks = Array.from({ length: count }, () => once).flat();
      return send([toMove(point), ...held(modifiers, clicks)], signal);
    },
    move: (point, signal) => send([toMove(point)], signal),
    drag(from, to, signal) {
      const steps = Array.from({ length: DRAG_STEPS }, (_, index) => (index + 1) / DRAG_STEPS);
      const between = (start: number, end: number, part: number) => start + (end - start) * part;
      const moves = steps.flatMap((part): Event[] => [
        toMove({ x: between(from.x, to.x, part), y: between(from.y, to.y, part) }),
        ["pause", DRAG_PAUSE_MS],
      ]);
      const [down, up] = BUTTONS.left;
      return send([toMove(from), ["mouse", down, 0], ...moves, ["mouse", up, 0]], signal);
    },
    scroll(at, { dx, dy }, signal) {
      const turn = (flags: number, steps: number): Event[] =>
        Array.from({ length: Math.min(Math.abs(steps), MAX_SCROLL_STEPS) }, () => [
          ...(["mouse", flags, Math.sign(steps) * WHEEL_STEP] as const),
        ]);
      return send([...(at ? [toMove(at)] : []), ...turn(WHEEL, -dy), ...turn(WHEEL_SIDEWAYS, dx)], signal);
    },
    type: (text, signal) =>
      send(
        text
          .replaceAll("\r\n", "\n")
          .split("")
          .flatMap((unit) => strike(unit === "\n" ? "enter" : unit === "\t" ? "tab" : unit, "unit")),
        signal,
      ),
    press: (chords, signal) =>
      send(
        chords.flatMap((chord) => {
          const { modifiers, key } = parseChord(chord);
          return held(modifiers, strike(key, "keyof"));
        }),
        signal,
      ),
    async windows(signal) {
      const { windows = [] } = await ask({ op: "windows" }, signal);
      return windows.map(([id, title, pid, x, y, width, height, active]) => ({
        id,
        title,
        pid,
        x,
        y,
        width,
        height,
        active,
      }));
    },
    async activate(id, signal) {
      const { active } = await ask({ op: "activate", id }, signal);
      if (active) return;
      throw new ToolError("EXEC_FAILED", "Windows did not give the window the focus; click it instead", {
        program: POWERSHELL,
      });
    },
    async picture(part, signal) {
      const { width, height } = part ?? (await ask({ op: "size" }, signal));
      const { x = 0, y = 0 } = part ?? {};
      const { png = "" } = await ask({ op: "picture", x, y, width, height }, signal);
      return Buffer.from(png, "base64");
    },
  };
}

/** Without characters that the encoding of a console could change. */
const toAscii = (request: object): string =>
  JSON.stringify(request).replace(
    /[^\x00-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const toMove = ({ x, y }: Point): Event => ["move", Math.round(x), Math.round(y)];

/** Presses and releases a key by its name, or a character. */
function strike(name: string, by: "unit" | "keyof"): Event[] {
  const pair = (event: "key" | "unit" | "keyof", code: number, flags = 0): Event[] => [
    [event, code, flags],
    [event, code, flags | UP],
  ];
  if (name.length === 1 && name !== " ") return pair(by, name.charCodeAt(0));
  const key = KEYS[name.toLowerCase()];
  if (key !== undefined) return pair("key", key);
  const extended = EXTENDED_KEYS[name.toLowerCase()];
  if (extended !== undefined) return pair("key", extended, EXTENDED);
  const [, number] = /^F(\d{1,2})$/i.exec(name) ?? [];
  if (number !== undefined && Number(number) >= 1 && Number(number) <= 24)
    return pair("key", F1 + Number(number) - 1);
  throw noKey(name);
}

function held(names: readonly string[], events: readonly Event[]): Event[] {
  const codes = names.map((name) => {
    const code = MODIFIERS[name.toLowerCase()];
    if (code !== undefined) return code;
    throw noModifier(name);
  });
  return [
    ...codes.map((code): Event => ["key", code, 0]),
    ...events,
    ...codes.toReversed().map((code): Event => ["key", code, UP]),
  ];
}
