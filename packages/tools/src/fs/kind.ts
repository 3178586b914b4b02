import { z } from "zod";

/** The kinds of directory entries. */
export const Kind = z.enum(["file", "directory", "symlink", "fifo", "socket", "device"]);
