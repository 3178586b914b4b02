import type { Background } from "./paint.ts";

/** OSC 11 with a question mark queries the terminal's background colour. */
export const ASK_BACKGROUND = "\x1b]11;?\x1b\\";

const REPLY =
  /^\x1b\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})(?:\/[\da-f]{1,4})?(?:\x07|\x1b\\)$/i;
const BEGINNING = /^\x1b(?:\](?:1(?:1(?:;(?:r(?:g(?:b(?:a?(?::[\da-f/]{0,19}\x1b?)?)?)?)?)?)?)?)?)?$/i;

/** Extracts the answer from the terminal's input, in any chunks. */
export class BackgroundReply {
  readonly #onAnswer: (background: Background) => void;
  #held: string[] = [];
  /** While an answer may still arrive, a lone ESC may be its start. */
  isAwaited = false;

  constructor(onAnswer: (background: Background) => void) {
    this.#onAnswer = onAnswer;
  }

  /** Returns the rest, which are the person's keys. */
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
    // A part of an answer is not typing; a lone ESC was the key.
    return text.startsWith("\x1b]") && held.length > 1 ? [data] : text.startsWith("\x1b]") ? [] : held;
  }

  /** Returns the key that was held back as the start of an answer that did not come. */
  release(): readonly string[] {
    if (this.#held.join("") !== "\x1b") return [];
    const held = this.#held;
    this.#held = [];
    return held;
  }
}

/** From hexadecimal parts of one to four digits; 0 to 1, weighted by perception. */
function lightness(parts: readonly string[]): number {
  const [red = 0, green = 0, blue = 0] = parts.map(
    (part) => Number.parseInt(part, 16) / (16 ** part.length - 1),
  );
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}
