import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { attempt } from "@octant/core";
import { type Path, toNative } from "./path.ts";

/** Opening a pipe without a writer would otherwise block forever. */
const OPEN = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The content of a regular file; undefined when it is missing, unreadable, larger, or a pipe, device or socket. */
export const readRegularFile = (
  path: Path,
  maxBytes: number,
  { followsLinks = true }: { readonly followsLinks?: boolean } = {},
): Buffer | undefined =>
  attempt(() => {
    const fd = openSync(toNative(path), followsLinks ? OPEN : OPEN | constants.O_NOFOLLOW);
    try {
      const stat = fstatSync(fd);
      return stat.isFile() && stat.size <= maxBytes ? readFileSync(fd) : undefined;
    } finally {
      closeSync(fd);
    }
  });
