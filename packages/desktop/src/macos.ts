import { readFileSync } from "node:fs";
import { join } from "node:path";
import { invalid, makeTempFolder } from "@octant/host";
import { type Desktop, noKey, noModifier, offScreen, parseChord } from "./program.ts";
import type { Point, ScreenBackend, Window } from "./screen.ts";

const MAX_SCROLL_LINES = 100;
const CLICKS = { left: ["c", "dc", "tc"], right: ["rc", "rc", "rc"] } as const;
const MODIFIERS: Readonly<Record<string, string>> = {
  control: "ctrl",
  ctrl: "ctrl",
  alt: "alt",
  option: "alt",
  shift: "shift",
  meta: "cmd",
  cmd: "cmd",
  command: "cmd",
  win: "cmd",
};
/** Key names of pages as cliclick names. */
const KEYS: Readonly<Record<string, string>> = {
  enter: "return",
  return: "return",
  escape: "esc",
  esc: "esc",
  tab: "tab",
  space: "space",
  " ": "space",
  backspace: "delete",
  delete: "fwd-delete",
  home: "home",
  end: "end",
  pageup: "page-up",
  pagedown: "page-down",
  arrowup: "arrow-up",
  arrowdown: "arrow-down",
  arrowleft: "arrow-left",
  arrowright: "arrow-right",
  up: "arrow-up",
  down: "arrow-down",
  left: "arrow-left",
  right: "arrow-right",
};

/** The macOS desktop through screencapture, osascript and cliclick. Unverified: written without a Mac. */
export function createMacos(desktop: Desktop): ScreenBackend {
  const script = async <T>(source: string, signal: AbortSignal): Promise<T> =>
    // Each script prints JSON.
    JSON.parse((await desktop.run("osascript", ["-l", "JavaScript", "-e", source], signal)).toString()) as T;
  /** From stdin: typed text must not appear in an argument list. */
  const cliclick = (commands: readonly string[], signal: AbortSignal) =>
    desktop.run("cliclick", ["-f", "-"], signal, `${commands.join("\n")}\n`);
  const display = (signal: AbortSignal) =>
    script<{ width: number; height: number; scale: number }>(DISPLAY, signal);
  const size = async (signal: AbortSignal) => {
    const { width, height, scale } = await display(signal);
    return { width: width * scale, height: height * scale };
  };
  /** macOS programs use points; everything else here uses pixels. */
  const toPoints = async (points: readonly Point[], signal: AbortSignal): Promise<string[]> => {
    const { width, height, scale } = await display(signal);
    return points.map(({ x, y }) => {
      if (x < 0 || y < 0 || x >= width * scale || y >= height * scale)
        throw offScreen({ x, y }, width * scale, height * scale);
      return `${Math.round(x / scale)},${Math.round(y / scale)}`;
    });
  };
  const held = (keys: readonly string[], commands: readonly string[]): readonly string[] =>
    keys.length === 0 ? commands : [`kd:${keys.join(",")}`, ...commands, `ku:${keys.join(",")}`];

  return {
    size,
    async click(point, { button, count, modifiers }, signal) {
      if (button === "middle") throw invalid("button", "macOS: left and right only");
      const [at = ""] = await toPoints([point], signal);
      const kind = CLICKS[button][Math.min(count, 3) - 1] ?? "c";
      const times = button === "right" ? count : 1;
      const clicks = Array.from({ length: times }, () => `${kind}:${at}`);
      await cliclick(held(modifiers.map(toModifier), clicks), signal);
    },
    async move(point, signal) {
      const [at = ""] = await toPoints([point], signal);
      await cliclick([`m:${at}`], signal);
    },
    async drag(from, to, signal) {
      const [start = "", end = ""] = await toPoints([from, to], signal);
      await cliclick([`dd:${start}`, `dm:${end}`, `du:${end}`], signal);
    },
    async scroll(at, { dx, dy }, signal) {
      if (at) await cliclick([`m:${(await toPoints([at], signal))[0]}`], signal);
      const lines = (steps: number) =>
        Math.max(-MAX_SCROLL_LINES, Math.min(MAX_SCROLL_LINES, Math.round(steps)));
      await script(toScroll(-lines(dy), -lines(dx)), signal);
    },
    async type(text, signal) {
      const commands = text
        .split("\n")
        .flatMap((line, index) => [...(index > 0 ? ["kp:return"] : []), ...(line ? [`t:${line}`] : [])]);
      if (commands.length > 0) await cliclick(commands, signal);
    },
    async press(keys, signal) {
      const commands = keys.flatMap((chord) => {
        const { modifiers, key } = parseChord(chord);
        return held(modifiers.map(toModifier), [toKey(key)]);
      });
      await cliclick(commands, signal);
    },
    async windows(signal) {
      const { scale } = await display(signal);
      const found = await script<Window[]>(WINDOWS, signal);
      return found.map((window) => ({
        ...window,
        x: window.x * scale,
        y: window.y * scale,
        width: window.width * scale,
        height: window.height * scale,
      }));
    },
    async activate(id, signal) {
      await script(toActivation(id), signal);
    },
    async picture(part, signal) {
      const { scale } = await display(signal);
      const region = part && [part.x, part.y, part.width, part.height].map((pixels) => pixels / scale);
      using folder = makeTempFolder("screen");
      const file = join(folder.path, "screen.png");
      const args = ["-x", "-t", "png", ...(region ? [`-R${region.join(",")}`] : []), file];
      await desktop.run("screencapture", args, signal);
      return readFileSync(file);
    },
  };
}

function toModifier(name: string): string {
  const known = MODIFIERS[name.toLowerCase()];
  if (known) return known;
  throw noModifier(name);
}

function toKey(name: string): string {
  const known = KEYS[name.toLowerCase()];
  if (known) return `kp:${known}`;
  if (/^F\d{1,2}$/i.test(name)) return `kp:${name.toLowerCase()}`;
  if ([...name].length === 1) return `t:${name}`;
  throw noKey(name);
}

const DISPLAY = `ObjC['import']('AppKit');
const screen = $.NSScreen.mainScreen;
JSON.stringify({ width: screen.frame.size.width, height: screen.frame.size.height, scale: screen.backingScaleFactor })`;

/** An id consists of the process id and the window number. */
const WINDOWS = `const found = [];
for (const app of Application("System Events").applicationProcesses.whose({ backgroundOnly: false })())
  app.windows().forEach((window, index) => {
    const [[x, y], [width, height]] = [window.position(), window.size()];
    const title = window.name() || app.name();
    found.push({ id: app.unixId() + "." + index, title, pid: app.unixId(), x, y, width, height, active: app.frontmost() && index === 0 });
  });
JSON.stringify(found)`;

const toActivation = (id: string): string => {
  const [pid, index] = id.split(".").map(Number);
  return `const [app] = Application("System Events").applicationProcesses.whose({ unixId: ${pid} })();
app.frontmost = true;
app.windows[${index}].actions["AXRaise"].perform();
"true"`;
};

const toScroll = (dy: number, dx: number): string => `ObjC['import']('CoreGraphics');
$.CGEventPost($.kCGHIDEventTap, $.CGEventCreateScrollWheelEvent2($(), $.kCGScrollEventUnitLine, 2, ${dy}, ${dx}, 0));
"true"`;
