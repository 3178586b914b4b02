import { Uri } from "@octant/core";
import { z } from "zod";

/** The name of the desktop among the browser profiles. */
export const SCREEN = "screen";
const MAIN = "main";
const TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 120_000;
const MAX_TARGET_CHARS = 2_000;

export const Profile = z
  .string()
  .regex(/^[\w.-]{1,40}$/, "a profile is a name of letters, digits, dots, dashes and underscores")
  .default(MAIN)
  .describe("Isolated browser profile, or screen");

/** For actions that need a page. */
export const PageProfile = Profile.refine(
  (name) => name !== SCREEN,
  "this works on pages only; the desktop has click, type, press, hover, drag, scroll, focus, windows, screenshot, record, stop and session",
);

/** Described once, at `click`: the tool list would repeat it for each action. */
export const Target = z.string().min(1).max(MAX_TARGET_CHARS);

export const timeout = z.int().min(1).max(MAX_TIMEOUT_MS).default(TIMEOUT_MS);

const POINT = /^\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*$/;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Parses a target of the form `x,y`. */
export function toPoint(target: string | undefined): Point | undefined {
  const [, x, y] = POINT.exec(target ?? "") ?? [];
  return x === undefined || y === undefined ? undefined : { x: Number(x), y: Number(y) };
}

/** A file to create. */
export const Output = Uri.describe("");
