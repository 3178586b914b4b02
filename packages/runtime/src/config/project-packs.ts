import { readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { ToolError } from "@octant/core";
import { hashFolder } from "@octant/host";
import { fieldsOf } from "./dictionary.ts";
import { isInside, realPlace } from "./places.ts";
import type { PackSettings } from "./schema.ts";

/** The folder of a project's pack; undefined when it is not a folder of the project. */
export function folderOfPack(root: string, { from }: PackSettings): string | undefined {
  if (isAbsolute(from) || !/^\.\.?[/\\]/.test(from)) return undefined;
  const folder = realPlace(resolve(root, from));
  return isInside(root, folder) && folder !== root ? folder : undefined;
}

/** The content that the person trusts with a pack of the project: its rights and the hash of all its files. */
export function contentOfPack(root: string, pack: PackSettings): object {
  const folder = folderOfPack(root, pack);
  if (folder === undefined) return { problem: "not a folder of the project" };
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const { rights = {} } = fieldsOf(fieldsOf(manifest)["octant"]);
    return { rights, content: hashFolder(folder) };
  } catch (cause) {
    if (!(cause instanceof ToolError || cause instanceof SyntaxError || isSystemError(cause))) throw cause;
    return { problem: cause.message };
  }
}

const isSystemError = (cause: unknown): cause is Error => cause instanceof Error && "code" in cause;
