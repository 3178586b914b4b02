import type { Path } from "@octant/host";

/** Resolves a path written in a file of `folder`, relative to the workspace root; undefined when it is outside. */
export function resolvePath(folder: Path, written: Path): Path | undefined {
  if (written.startsWith("/") || written.includes("\0")) return undefined;
  const parts = folder === "" ? [] : folder.split("/");
  for (const part of written.split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

export const joinPath = (folder: Path, name: Path): Path => (folder === "" ? name : `${folder}/${name}`);

/** The parent folder, relative to the workspace root; the root is its own parent. */
export const parentOf = (path: Path): Path => path.slice(0, Math.max(0, path.lastIndexOf("/")));

export const nameOf = (path: Path): Path => path.slice(path.lastIndexOf("/") + 1);

/** The path relative to a folder above it. */
export const pathBelow = (folder: Path, path: Path): Path =>
  folder === "" ? path : path.slice(folder.length + 1);

export const isBelow = (folder: Path, path: Path): boolean =>
  path !== folder && (folder === "" || path.startsWith(`${folder}/`));
