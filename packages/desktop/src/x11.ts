import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { makeTempFolder } from "@octant/host";
import { type Desktop, missing, offScreen, parseChord } from "./program.ts";
import type { Point, ScreenBackend, Window } from "./screen.ts";

const BUTTONS = { left: "1", middle: "2", right: "3" } as const;
const WHEEL = { up: "4", down: "5", left: "6", right: "7" } as const;
const CLICK_DELAY_MS = 60;
const TYPE_DELAY_MS = 4;
/** A character without a key is mapped to one first; the program must notice that before the key is pressed. */
const REMAP_DELAY_MS = 150;
const DRAG_STEPS = 12;
const FOCUS_MS = 3_000;
const MAX_WINDOWS = 200;

/** The desktop through xdotool and an available screenshot program. */
export function createX11(desktop: Desktop): ScreenBackend {
  const xdotool = async (
    args: readonly (string | number)[],
    signal: AbortSignal,
    input?: string,
  ): Promise<string> => (await desktop.run("xdotool", args.map(String), signal, input)).toString().trim();
  const size = async (signal: AbortSignal) => {
    const [width = 0, height = 0] = (await xdotool(["getdisplaygeometry"], signal)).split(/\s+/).map(Number);
    return { width, height };
  };
  const checkPoint = async ({ x, y }: Point, signal: AbortSignal): Promise<[number, number]> => {
    const { width, height } = await size(signal);
    if (x >= 0 && y >= 0 && x < width && y < height) return [Math.round(x), Math.round(y)];
    throw offScreen({ x, y }, width, height);
  };
  /** xdotool counts the frame of a window manager twice, so it is asked only where xwininfo is missing. */
  const boxOf = async (id: string, signal: AbortSignal) => {
    const isExact = desktop.find("xwininfo") !== undefined;
    const text = isExact
      ? (await desktop.run("xwininfo", ["-id", id], signal)).toString()
      : await xdotool(["getwindowgeometry", "--shell", id], signal);
    const value = (exact: string, name: string) =>
      Number(new RegExp(`^\\s*${isExact ? exact : name}[:=]\\s*(-?\\d+)$`, "m").exec(text)?.[1] ?? 0);
    return {
      x: value("Absolute upper-left X", "X"),
      y: value("Absolute upper-left Y", "Y"),
      width: value("Width", "WIDTH"),
      height: value("Height", "HEIGHT"),
    };
  };
  const describe = async (id: string, active: string, signal: AbortSignal): Promise<Window | undefined> => {
    try {
      const title = await xdotool(["getwindowname", id], signal);
      const pid = await xdotool(["getwindowpid", id], signal).catch(() => "");
      return {
        id,
        title,
        pid: pid === "" ? null : Number(pid),
        ...(await boxOf(id, signal)),
        active: id === active,
      };
    } catch (cause) {
      if (cause instanceof ToolError) return undefined;
      throw cause;
    }
  };

  return {
    size,
    async click(point, { button, count, modifiers }, signal) {
      const [x, y] = await checkPoint(point, signal);
      const keys = modifiers.map(toKeysym);
      await xdotool(
        [
          ...["mousemove", "--sync", x, y],
          ...keys.flatMap((key) => ["keydown", key]),
          ...["click", "--repeat", count, "--delay", CLICK_DELAY_MS, BUTTONS[button]],
          ...keys.flatMap((key) => ["keyup", key]),
        ],
        signal,
      );
    },
    async move(point, signal) {
      const [x, y] = await checkPoint(point, signal);
      // --sync waits forever when the pointer is already there.
      await xdotool(["mousemove", x, y], signal);
    },
    async drag(from, to, signal) {
      const [x, y] = await checkPoint(from, signal);
      const [endX, endY] = await checkPoint(to, signal);
      const steps = Array.from({ length: DRAG_STEPS }, (_, index) => (index + 1) / DRAG_STEPS);
      await xdotool(
        [
          ...["mousemove", x, y, "mousedown", "1"],
          ...steps.flatMap((part) => [
            ...["mousemove", Math.round(x + (endX - x) * part), Math.round(y + (endY - y) * part)],
            ...["sleep", "0.02"],
          ]),
          ...["mouseup", "1"],
        ],
        signal,
      );
    },
    async scroll(at, { dx, dy }, signal) {
      if (at) await xdotool(["mousemove", ...(await checkPoint(at, signal))], signal);
      const turns = [
        [dy > 0 ? WHEEL.down : WHEEL.up, Math.abs(dy)],
        [dx > 0 ? WHEEL.right : WHEEL.left, Math.abs(dx)],
      ] as const;
      for (const [button, steps] of turns)
        if (steps > 0)
          await xdotool(["click", "--repeat", Math.min(steps, 100), "--delay", 10, button], signal);
    },
    /** From stdin: the text must not appear in an argument list, and may contain any character. */
    async type(text, signal) {
      for (const [run] of text.matchAll(RUNS)) {
        const delay = isAscii(run) ? TYPE_DELAY_MS : REMAP_DELAY_MS;
        await xdotool(["type", "--clearmodifiers", "--delay", delay, "--file", "-"], signal, run);
      }
    },
    async press(keys, signal) {
      const chords = keys.map((chord) => {
        const { modifiers, key } = parseChord(chord);
        return [...modifiers, key].map(toKeysym).join("+");
      });
      await xdotool(["key", "--clearmodifiers", ...chords], signal);
    },
    async windows(signal) {
      const active = await xdotool(["getactivewindow"], signal).catch(() => "");
      const found = await xdotool(["search", "--onlyvisible", "--name", "."], signal).catch(() => "");
      const ids = found.split("\n").filter(Boolean).slice(0, MAX_WINDOWS);
      const windows = await Promise.all(ids.map((id) => describe(id, active, signal)));
      return windows.filter((window) => window !== undefined && window.title !== "") as Window[];
    },
    async activate(id, signal) {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(FOCUS_MS)]);
      try {
        await xdotool(["windowactivate", "--sync", id], patience);
      } catch (cause) {
        signal.throwIfAborted();
        if (!patience.aborted) throw cause;
        const message = "the window did not get the focus; is a window manager running?";
        throw new ToolError("TIMEOUT", message, { after_ms: FOCUS_MS });
      }
    },
    async picture(part, signal) {
      const region = part && `${part.width}x${part.height}+${part.x}+${part.y}`;
      if (desktop.find("maim"))
        return desktop.run("maim", ["--hidecursor", ...(region ? ["-g", region] : [])], signal);
      if (desktop.find("import"))
        return desktop.run(
          "import",
          ["-window", "root", ...(region ? ["-crop", region, "+repage"] : []), "png:-"],
          signal,
        );
      if (!desktop.find("scrot")) throw missing("maim");
      using folder = makeTempFolder("screen");
      const file = join(folder.path, "screen.png");
      const box = part && `${part.x},${part.y},${part.width},${part.height}`;
      await desktop.run("scrot", [...(box ? ["-a", box] : []), file], signal);
      return readFileSync(file);
    },
  };
}

/** Alternating runs of characters that keyboards have, and others. */
const RUNS = /[\x00-\x7f]+|[^\x00-\x7f]+/gu;
const isAscii = (text: string): boolean => (text.codePointAt(0) ?? 0) < 0x80;

/** Key names of pages as X keysyms. */
const KEYSYMS: Readonly<Record<string, string>> = {
  control: "ctrl",
  ctrl: "ctrl",
  meta: "super",
  cmd: "super",
  command: "super",
  win: "super",
  alt: "alt",
  shift: "shift",
  enter: "Return",
  return: "Return",
  escape: "Escape",
  esc: "Escape",
  backspace: "BackSpace",
  delete: "Delete",
  insert: "Insert",
  tab: "Tab",
  space: "space",
  " ": "space",
  home: "Home",
  end: "End",
  pageup: "Prior",
  pagedown: "Next",
  arrowup: "Up",
  arrowdown: "Down",
  arrowleft: "Left",
  arrowright: "Right",
  up: "Up",
  down: "Down",
  left: "Left",
  right: "Right",
  "+": "plus",
  "-": "minus",
  ",": "comma",
  ".": "period",
  "/": "slash",
  "\\": "backslash",
  ";": "semicolon",
  "'": "apostrophe",
  "=": "equal",
  "[": "bracketleft",
  "]": "bracketright",
  "`": "grave",
};

function toKeysym(name: string): string {
  const known = KEYSYMS[name.toLowerCase()];
  if (known) return known;
  if (/^F\d{1,2}$/i.test(name)) return name.toUpperCase();
  if (/^[\w]+$/.test(name)) return name;
  const [character = ""] = name;
  return `U${character.codePointAt(0)?.toString(16).padStart(4, "0")}`;
}
