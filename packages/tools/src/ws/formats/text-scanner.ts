/** A place in a text that only moves forward. Every step is linear in what it passes. */
export class TextScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  get position(): number {
    return this.#at;
  }

  /** Steps over `token` when it stands here. */
  take(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false;
    this.#at += token.length;
    return true;
  }

  /** What the sticky pattern matches here, if it does; `beyond` characters after it are stepped over too. */
  match(sticky: RegExp, beyond = 0): string | undefined {
    sticky.lastIndex = this.#at;
    const found = sticky.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length + beyond;
    return found;
  }

  /** The text up to `token`, which is stepped over; undefined when it never comes. */
  until(token: string): string | undefined {
    const end = this.#text.indexOf(token, this.#at);
    if (end < 0) return undefined;
    const found = this.#text.slice(this.#at, end);
    this.#at = end + token.length;
    return found;
  }

  skipSpace(): void {
    this.match(/[ \t]*/y);
  }

  /** White space, line ends and `#` comments. */
  skipBlank(): void {
    this.match(/(?:\s+|#[^\n]*)*/y);
  }

  skipLine(): void {
    this.match(/[^\n]*\n?/y);
  }

  /** Whether nothing but a comment is left in this line. */
  endsLine(): boolean {
    this.match(/[ \t]*(?:#[^\n]*)?\r?/y);
    return this.isAtEnd || this.#text[this.#at] === "\n";
  }
}
