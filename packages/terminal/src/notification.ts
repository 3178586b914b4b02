type Env = Readonly<Record<string, string | undefined>>;

/** How a terminal shows a desktop notification: OSC 777 has a title and a text, OSC 9 one text. */
type Sequence = "777" | "9";

/** Terminals by the variables that they set; those of the outer terminal are still there inside tmux. */
const TERMINALS: readonly (readonly [variable: string, value: RegExp, sequence: Sequence])[] = [
  ["TERM_PROGRAM", /^(ghostty|WezTerm)$/i, "777"],
  ["TERM_PROGRAM", /^(iTerm\.app|WarpTerminal)$/, "9"],
  ["LC_TERMINAL", /^iTerm2$/, "9"],
  ["TERM", /^(xterm-)?(ghostty|kitty|foot|wezterm)\b/, "777"],
  ["TERM", /^rxvt-unicode/, "777"],
  ["KITTY_WINDOW_ID", /./, "777"],
  ["WEZTERM_PANE", /./, "777"],
  ["GHOSTTY_RESOURCES_DIR", /./, "777"],
];

export interface Notification {
  readonly title: string;
  readonly text: string;
}

/** The bytes that make this terminal notify the person; undefined when it is not known to do so. */
export function toNotification(
  { title, text }: Notification,
  env: Env,
  passesThroughTmux: boolean,
): string | undefined {
  const found = TERMINALS.find(([variable, value]) => value.test(env[variable] ?? ""));
  if (!found) return undefined;
  const sequence =
    found[2] === "777"
      ? `\x1b]777;notify;${field(title)};${field(text)}\x07`
      : `\x1b]9;${field(title)}: ${field(text)}\x07`;
  if (!env["TMUX"]) return sequence;
  return passesThroughTmux ? `\x1bPtmux;${sequence.replaceAll("\x1b", "\x1b\x1b")}\x1b\\` : undefined;
}

const MAX_CHARS = 200;

/** Without the characters that end a field or a sequence. */
const field = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf};]+/gu, " ")
    .slice(0, MAX_CHARS)
    .toWellFormed()
    .trim();
