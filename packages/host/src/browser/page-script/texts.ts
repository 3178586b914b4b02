/** Shortens text. Self-contained: it is sent to pages as source. */
export function createTexts() {
  /** Placeholders for line breaks and spaces of preformatted text. */
  const [LINE_BREAK, SPACE] = ["\uE000", "\uE001"];
  return {
    MAX_NAME: 160,
    MAX_TEXT: 1_000,
    TEXT_NODE: 3,
    clean: (text: string): string => text.replace(/\s+/g, " ").replace(/^[ \uE000]+|[ \uE000\uE001]+$/g, ""),
    cut: (text: string, length: number): string =>
      text.length > length ? `${text.slice(0, length - 1)}…` : text,
    keepSpaces: (text: string): string =>
      text.replace(/\r?\n/g, LINE_BREAK).replaceAll("\t", SPACE.repeat(4)).replaceAll(" ", SPACE),
    /** A line break of preformatted text is shown as \n, since each element has one line. */
    show: (text: string): string => text.replaceAll(LINE_BREAK, "\\n").replaceAll(SPACE, " "),
  };
}

export type Texts = ReturnType<typeof createTexts>;
