import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { type Ref, ToolError, type Uri } from "@octant/core";
import { checkFree, pathToUri, placeFile } from "@octant/host";
import type { UiOptions } from "./acting.ts";

/** Reads a whole file of the workspace; TOO_LARGE above `maxBytes`. */
export function readWorkspaceFile({ workspace: { confinement } }: UiOptions, uri: Uri, maxBytes: number) {
  using file = confinement.openFile(confinement.toPath(uri));
  if (file.stat.size > maxBytes)
    throw new ToolError("TOO_LARGE", `${pathToUri(file.path)} is larger than ${maxBytes} bytes`, {
      limit: maxBytes,
      actual: file.stat.size,
    });
  return { name: basename(file.path), bytes: readFileSync(file.fd) };
}

/** The errors of an output that cannot be created. */
export const OUTPUT_ERRORS = ["ALREADY_EXISTS", "OUTSIDE_WORKSPACE", "PROTECTED_PATH"] as const;

const placeOf = ({ workspace }: UiOptions) => ({ ...workspace, folder: workspace.state.folder("downloads") });

/** Refuses an output that exists, is protected or outside before any work is done for it. */
export const checkOutput = (options: UiOptions, output: Uri | undefined): void => {
  if (output !== undefined) checkFree(placeOf(options), output);
};

/** Writes bytes, or a finished file, into the workspace by the rules of edits. */
export async function saveBytes(options: UiOptions, output: Uri, bytes: Buffer, signal: AbortSignal) {
  const { uri, undo } = await options.workspace.edits.create(output, bytes, signal);
  return { uri, undo: undo as Ref | null };
}

export const saveFile = (options: UiOptions, output: Uri, path: string, signal: AbortSignal) =>
  placeFile(placeOf(options), { path, size: statSync(path).size }, output, signal);
