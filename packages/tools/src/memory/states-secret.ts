/** A value that nobody says by chance: long enough, with letters and digits; not a URL, path or variable. */
const VALUE = String.raw`["'\`]?(?![a-z]+:\/\/|[~/$<{.])(?=\S{0,100}[A-Za-z])(?=\S{0,100}\d)[^\s"'\`]{8,}`;

/** How people write secrets in sentences and settings, beyond the shapes that logs are searched for. */
const SHAPES: readonly RegExp[] = [
  new RegExp(
    String.raw`(?:password|passwd|passphrase|pass(?:word)? phrase|secret|credential|token|api[ _-]?key|access[ _-]?key)s?(?:\s+is|\s*[:=])\s+${VALUE}`,
    "i",
  ),
  /\s(?:-u|--user)[ =]["']?[^\s:"']{1,100}:[^\s"']{4,}/,
];

/** Whether a text states a secret, such as "the password is …". */
export const statesSecret = (text: string): boolean => SHAPES.some((shape) => shape.test(text));
