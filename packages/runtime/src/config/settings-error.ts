import { ToolError } from "@octant/core";

export interface SettingsIssue {
  /** Such as `sandbox.mode`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

export interface SettingsFile {
  readonly path: string;
  /** As messages name it: from the project's folder or from the home, never more. */
  readonly shown: string;
}

/** Broken settings. Octant refuses to start, because their restrictions would be lost. */
export class SettingsError extends ToolError<"INVALID_ARGUMENT"> {
  readonly file: string;
  readonly line: number;
  readonly column: number;

  constructor(
    file: SettingsFile,
    issues: readonly [SettingsIssue, ...SettingsIssue[]],
    options?: ErrorOptions,
  ) {
    const [{ path, message, line, column }, ...others] = issues;
    const more = others.length > 0 ? " (and more)" : "";
    super(
      "INVALID_ARGUMENT",
      `${file.shown}:${line}:${column}: ${path ? `${path}: ` : ""}${message}${more}`,
      { issues: issues.map((issue) => ({ path: issue.path, message: issue.message })) },
      options,
    );
    this.file = file.path;
    this.line = line;
    this.column = column;
  }
}

/** The file as a whole is unusable. */
export const refusedFile = (file: SettingsFile, message: string, options?: ErrorOptions): SettingsError =>
  new SettingsError(file, [{ path: "", message, line: 1, column: 1 }], options);
