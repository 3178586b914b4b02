/** A file that cannot be read or changed; both numbers start at 1. */
export class ConfigProblem extends Error {
  override readonly name = "ConfigProblem";
  readonly line: number;
  readonly column: number;

  constructor(text: string, offset: number, message: string) {
    super(message);
    const before = text.slice(0, offset).split(/\r\n|\r|\n/);
    this.line = before.length;
    this.column = (before.at(-1) ?? "").length + 1;
  }
}
