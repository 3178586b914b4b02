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
    const more = others.length > 0 ? " (there is more)" : "";
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

/** Converts an operating system error to a typed error for the caller; returns other errors unchanged. */
export function toWriteError(cause: unknown): unknown {
  if (!(cause instanceof Error && "code" in cause) || cause instanceof ToolError) return cause;
  const options = { cause };
  switch (cause.code) {
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOTDIR":
      return new ToolError("ACCESS_DENIED", `the settings cannot be written (${cause.code})`, {}, options);
    case "ENOSPC":
    case "EDQUOT":
      return new ToolError(
        "NO_SPACE",
        "the disk is full or the quota is used up; nothing was changed",
        {},
        options,
      );
    default:
      return new ToolError("IO_ERROR", `the settings cannot be written (${cause.code})`, {}, options);
  }
}
