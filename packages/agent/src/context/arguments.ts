/**
 * The text of a command or skill with what the person typed after its name: all of it for `$ARGUMENTS`, single words
 * for `$1` to `$9` (quotes keep words together). A text without a place for it gets it at the end.
 */
export function withArguments(text: string, typed: string): string {
  const body = text.trim();
  const words = [...typed.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  const filled = body.replace(PLACE, (_, all: string | undefined, at: string | undefined) =>
    all === undefined ? (words[Number(at) - 1] ?? "") : typed,
  );
  return body.search(PLACE) >= 0 || typed === "" ? filled : `${body}\n\n${typed}`;
}

const PLACE = /\$(?:(ARGUMENTS)\b|([1-9])(?!\d))/g;
