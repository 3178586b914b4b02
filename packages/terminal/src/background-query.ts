import type { Background } from "./paint.ts";

/** OSC 11 with a question mark asks a terminal for its background colour. */
export const ASK_BACKGROUND = "\x1b]11;?\x1b\\";

const REPLY =
  /^\x1b\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})(?:\/[\da-f]{1,4})?(?:\x07|\x1b\\)$/i;
const BEGINNING = /^\x1b(?:\](?:1(?:1(?:;(?:r(?:g(?:b(?:a?(?::[\da-f/]{0,19}\x1b?)?)?)?)?)?)?)?)?)?$/i;

/** Takes the answer out of what comes from the terminal, in whatever pieces it comes. */
export class BackgroundReply {
  readonly #onAnswer: (background: Background) => void;
  #held: string[] = [];
  /** While an answer may still come, a lone ESC may be its beginning. */
  isAwaited = false;

  constructor(onAnswer: (background: Background) => void) {
    this.#onAnswer = onAnswer;
  }

  /** What is left for the person's keys. */
  feed(data: string): readonly string[] {
    const isBeginning = data.startsWith("\x1b]") || (this.isAwaited && data === "\x1b");
    if (this.#held.length === 0 && !isBeginning) return [data];
    const held = [...this.#held, data];
    const text = held.join("");
    const reply = REPLY.exec(text);
    this.#held = [];
    if (reply) {
      this.isAwaited = false;
      this.#onAnswer(lightness(reply.slice(1, 4)) > 0.5 ? "light" : "dark");
      return [];
    }
    if (BEGINNING.test(text)) {
      this.#held = held;
      return [];
    }
    // A part of an answer is nobody's typing; a lone ESC was the key.
    return text.startsWith("\x1b]") && held.length > 1 ? [data] : text.startsWith("\x1b]") ? [] : held;
  }

  /** The key that was taken for the beginning of an answer which did not come. */
  release(): readonly string[] {
    if (this.#held.join("") !== "\x1b") return [];
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

/** Of hexadecimal parts with one to four digits each; 0 to 1, weighted as eyes do. */
function lightness(parts: readonly string[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map(
    (part) => Number.parseInt(part, 16) / (16 ** part.length - 1),
  );
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}
