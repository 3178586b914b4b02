/** The bytes that a terminal sends for a key; undefined for keys that belong to the browser. */
export function keyToBytes({
  key,
  ctrlKey,
  altKey,
  metaKey,
  isComposing,
}: Pick<KeyboardEvent, "key" | "ctrlKey" | "altKey" | "metaKey" | "isComposing">): string | undefined {
  // Tab leaves the terminal, so that the page can be used with the keyboard alone.
  if (metaKey || isComposing || key === "Tab") return undefined;
  if (ctrlKey)
    return /^[a-z@[\\\]^_]$/i.test(key) && key !== "v"
      ? String.fromCharCode(key.toUpperCase().charCodeAt(0) & 31)
      : undefined;
  const named = KEYS[key];
  if (named !== undefined) return named;
  if ([...key].length !== 1) return undefined;
  return altKey ? `\u001b${key}` : key;
}

const KEYS: Readonly<Record<string, string>> = {
  Enter: "\r",
  Backspace: "\u007f",
  Escape: "\u001b",
  ArrowUp: "\u001b[A",
  ArrowDown: "\u001b[B",
  ArrowRight: "\u001b[C",
  ArrowLeft: "\u001b[D",
  Home: "\u001b[H",
  End: "\u001b[F",
  Delete: "\u001b[3~",
};
