import { StringDecoder } from "node:string_decoder";

/** Maximum length of an output line; the rest is dropped. */
const MAX_LINE_CHARS = 1_048_576;

/** Splits bytes into lines, independent of chunk boundaries. */
export function createLineSplitter(onLine: (line: string) => void) {
  const decoder = new StringDecoder("utf8");
  let rest = "";

  const take = (text: string) => {
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      emit(rest + text.slice(from, at));
      rest = "";
      from = at + 1;
    }
    if (rest.length < MAX_LINE_CHARS) rest += text.slice(from);
  };
  const emit = (line: string) => {
    const bounded = line.slice(0, MAX_LINE_CHARS);
    onLine(bounded.endsWith("\r") ? bounded.slice(0, -1) : bounded);
  };
  const flush = () => {
    take(decoder.end());
    if (rest !== "") emit(rest);
    rest = "";
  };

  return {
    push: (bytes: Uint8Array) => take(decoder.write(Buffer.from(bytes))),
    /** At the end, or where bytes were lost. */
    flush,
  };
}
