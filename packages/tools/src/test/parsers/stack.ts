import type { Place } from "../case.ts";

const MAX_FRAMES = 200;
const MAX_FRAME_CHARS = 4_096;

/** The locations in a stack trace or a compiler message, innermost first. */
export function placesIn(stack: string): Place[] {
  const lines = stack
    .split("\n", MAX_FRAMES)
    .filter((line) => line.length <= MAX_FRAME_CHARS)
    .map((line) => line.trim());
  // Python prints the innermost frame last.
  const traceback = lines.flatMap((line) => placeInTraceback(line) ?? []);
  if (traceback.length > 0) return traceback.reverse();
  return lines.flatMap((line) => placeAtStart(line) ?? placeAtEnd(line) ?? []);
}

/** `File "/x.py", line 3, in test`. */
function placeInTraceback(line: string): Place | undefined {
  const [, file, number] = /^(?:E\s+)?File "([^"]+)", line (\d{1,9})/.exec(line) ?? [];
  return file === undefined ? undefined : { file, line: Number(number) };
}

/** `x.go:3:5: what`, `--> x.rs:3:5`, `/x.py:3: in test`. */
function placeAtStart(line: string): Place | undefined {
  const [, file, number, col] =
    /^(?:--> )?([^\s:()"]+\.\w{1,10}):(\d{1,9})(?::(\d{1,9}))?(?=:|$)/.exec(line) ?? [];
  return file === undefined ? undefined : toLocation(file, number, col);
}

/** `at name (file:///x.js:3:5)`, `at /x.js:3:5`, `/x.go:3 +0x1d`. */
function placeAtEnd(line: string): Place | undefined {
  const [whole, number, col] = /:(\d{1,9})(?::(\d{1,9}))?\)?(?: \+0x[0-9a-f]{1,16})?$/.exec(line) ?? [];
  if (whole === undefined) return undefined;
  const before = line.slice(0, -whole.length);
  const file = toFile(before.slice(before.lastIndexOf("(") + 1).replace(/^at (?:async )?/, ""));
  if (!/^[/.\w]/.test(file) || file.startsWith("node:")) return undefined;
  return toLocation(file, number, col);
}

const toLocation = (file: string, line: string | undefined, col: string | undefined): Place => ({
  file,
  line: Number(line),
  ...(col !== undefined && { col: Number(col) }),
});

function toFile(written: string): string {
  if (!written.startsWith("file://")) return written;
  try {
    return decodeURIComponent(written.slice("file://".length));
  } catch {
    return written;
  }
}
