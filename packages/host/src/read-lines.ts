import type { Readable } from "node:stream";

/**
 * Reports the lines of a stream of JSON. They end at line feeds alone: JSON text may contain U+2028 and U+2029, where
 * `node:readline` would cut it. The last line needs no line feed.
 */
export function readLines(
  input: Readable,
  onLine: (line: string) => void,
  onEnd: () => void = () => {},
): void {
  let open: string[] = [];
  input.setEncoding("utf8");
  input.on("data", (text: string) => {
    const [first = "", ...others] = text.split("\n");
    open.push(first);
    for (const next of others) {
      const line = open.join("");
      open = [next];
      onLine(line);
    }
  });
  input.once("end", () => {
    const last = open.join("");
    if (last !== "") onLine(last);
    onEnd();
  });
}
