import type { Readable } from "node:stream";
import { createLineSplitter } from "@octant/core";

/**
 * Reports the lines of a stream of JSON. They end at line feeds alone: JSON text may contain U+2028 and U+2029, where
 * `node:readline` would cut it. The last line needs no line feed.
 */
export function readLines(
  input: Readable,
  onLine: (line: string) => void,
  onEnd: () => void = () => {},
): void {
  const split = createLineSplitter({ onLine, hasEmptyLines: true }, Number.POSITIVE_INFINITY);
  input.on("data", split);
  input.once("end", () => {
    split.flush();
    onEnd();
  });
}
