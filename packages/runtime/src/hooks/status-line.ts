import { stripVTControlCharacters } from "node:util";
import { toOneLine } from "@octant/core";
import { z } from "zod";
import type { Redact } from "../redact/redactor.ts";
import type { ProgramEnd } from "./run-command.ts";

const DEFAULT_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 60_000;

/** A shell command that prints the person's own status line. */
export const StatusLineSettings = z.strictObject({
  command: z.string().min(1),
  timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
});
export type StatusLineSettings = z.output<typeof StatusLineSettings>;

const MAX_LINES = 3;
const MAX_CHARS = 500;

/** The output of the script, without colours and terminal controls. A failure is shown in its place. */
export function toStatusLines(end: ProgramEnd, redact: Redact): readonly string[] {
  const { exit_code, problem, stdout, stderr } = end;
  const lines = (text: string) =>
    stripVTControlCharacters(redact(text))
      .split(/\r?\n/)
      .map((line) => toOneLine(line.trimEnd().slice(0, MAX_CHARS).toWellFormed()))
      .filter((line) => line !== "");
  if (problem === undefined && exit_code === 0) return lines(stdout).slice(0, MAX_LINES);
  const [why] = problem === undefined ? lines(stderr) : [];
  const what = problem ?? `exit code ${exit_code}`;
  return [`the status line script failed: ${toOneLine(what)}${why === undefined ? "" : `: ${why}`}`];
}
