import { z } from "zod";

/** What can stand in a folder. */
export const Kind = z.enum(["file", "directory", "symlink", "fifo", "socket", "device"]);
