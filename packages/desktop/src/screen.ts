import { type Backend, ToolError } from "@octant/core";
import { invalid } from "@octant/host";
import { createMacos } from "./macos.ts";
import { createDesktop } from "./program.ts";
import { type Recorder, startRecording } from "./recorder.ts";
import { findSystem, X11_ONLY } from "./systems.ts";
import { createWindows } from "./windows.ts";
import { createX11 } from "./x11.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Window {
  readonly id: string;
  readonly title: string;
  readonly pid: number | null;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly active: boolean;
}

export interface ClickOptions {
  readonly button: "left" | "right" | "middle";
  readonly count: number;
  readonly modifiers: readonly string[];
}

export type Box = Pick<Window, "x" | "y" | "width" | "height">;

/** The operations of a kind of desktop. Coordinates are physical pixels from the top left. */
export interface ScreenBackend {
  size(signal: AbortSignal): Promise<Pick<Window, "width" | "height">>;
  click(point: Point, options: ClickOptions, signal: AbortSignal): Promise<void>;
  move(point: Point, signal: AbortSignal): Promise<void>;
  drag(from: Point, to: Point, signal: AbortSignal): Promise<void>;
  /** Steps of the wheel. */
  scroll(at: Point | undefined, by: { dx: number; dy: number }, signal: AbortSignal): Promise<void>;
  type(text: string, signal: AbortSignal): Promise<void>;
  /** Names as in pages: Enter, Control+a. */
  press(keys: readonly string[], signal: AbortSignal): Promise<void>;
  windows(signal: AbortSignal): Promise<readonly Window[]>;
  /** Gives a window the focus. */
  activate(id: string, signal: AbortSignal): Promise<void>;
  /** A PNG of the screen, or of a part of it. */
  picture(part: Box | undefined, signal: AbortSignal): Promise<Buffer>;
}

/** The person's desktop. */
export interface Screen extends Omit<ScreenBackend, "size" | "activate" | "picture"> {
  /** PERMISSION_DENIED until the person has enabled it; UNSUPPORTED where it cannot work. */
  check(): void;
  /** By its id, pid, or a part of its title. */
  focus(target: string, signal: AbortSignal): Promise<Window>;
  /** The whole screen, `x,y,width,height`, or a window. */
  screenshot(target: string | undefined, signal: AbortSignal): Promise<{ bytes: Buffer; scale: number }>;
  record(options: { fps: number; maxMs: number }, signal: AbortSignal): Promise<Recorder>;
  backend(): Backend;
}

export interface ScreenOptions {
  readonly env: NodeJS.ProcessEnv;
  /** The person has enabled it. */
  readonly isOn: boolean;
}

/** Nothing is started before it is used. */
export function createScreen({ env, isOn }: ScreenOptions): Screen {
  const desktop = createDesktop(env);
  const { name, why } = findSystem({ platform: process.platform, env, find: desktop.find });
  const backend = BACKENDS[name](desktop);

  const check = () => {
    if (!isOn)
      throw new ToolError("PERMISSION_DENIED", `the screen is off; ${TURN_ON}`, {
        by: "settings",
        rule: "ui.screen",
      });
    if (why) throw unsupported(why.message, why.how);
  };

  const findWindow = async (target: string, signal: AbortSignal): Promise<Window> => {
    const windows = await backend.windows(signal);
    const wanted = target.toLowerCase();
    const found =
      windows.find(({ id, pid }) => id === target || String(pid) === target) ??
      windows.find(({ title }) => title.toLowerCase() === wanted) ??
      windows.find(({ title }) => title.toLowerCase().includes(wanted));
    if (found) return found;
    const titles = windows.map(({ title }) => `'${title}'`).join(", ") || "none";
    throw new ToolError("NOT_FOUND", `no window has the title, pid or id '${target}'; there are: ${titles}`, {
      id: target,
    });
  };

  return {
    check,
    ...backend,
    async focus(target, signal) {
      const window = await findWindow(target, signal);
      await backend.activate(window.id, signal);
      return window;
    },
    async screenshot(target, signal) {
      const part =
        target === undefined ? undefined : (toRegion(target) ?? (await findWindow(target, signal)));
      return { bytes: await backend.picture(part, signal), scale: 1 };
    },
    async record({ fps, maxMs }, signal) {
      if (name !== "X11")
        throw unsupported("recordings of the screen are made on Linux with X11 only", X11_ONLY);
      const { width, height } = await backend.size(signal);
      const display = env["DISPLAY"] ?? "";
      return startRecording({
        program: desktop.find("ffmpeg"),
        display,
        env: desktop.env,
        width,
        height,
        fps,
        maxMs,
      });
    },
    backend() {
      const state = isOn ? "on" : `off; ${TURN_ON}`;
      if (why) return { name: "screen", available: false, detail: `${why.message}; ${state}` };
      if (name !== "X11") return { name: "screen", available: isOn, detail: `${name}, unverified; ${state}` };
      const tools = ["xdotool", "xwininfo", "maim", "scrot", "import", "ffmpeg"].filter((name) =>
        desktop.find(name),
      );
      return { name: "screen", available: isOn, detail: `X11 with ${tools.join(", ")}; ${state}` };
    },
  };
}

const BACKENDS = { X11: createX11, macOS: createMacos, Windows: createWindows };

const unsupported = (message: string, how: string) =>
  new ToolError("UNSUPPORTED", message, { what: "the screen", how });

/** INVALID_ARGUMENT for numbers that are not a region; undefined for the title of a window. */
function toRegion(target: string): Box | undefined {
  const [x, y, width, height] = REGION.exec(target)?.slice(1).map(Number) ?? [];
  if (x !== undefined && y !== undefined && width !== undefined && height !== undefined)
    return { x, y, width, height };
  if (/^[\d\s,.-]+$/.test(target) && target.includes(","))
    throw invalid("target", "a region of the screen is x,y,width,height");
  return undefined;
}

const REGION = /^\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*$/;
const TURN_ON = 'the person turns it on with "ui": { "screen": true } in their settings, or --screen';
