import type { Device } from "./device.ts";
import type { Completer } from "./editor/completion.ts";
import type { InputMode } from "./editor/editor.ts";
import type { History } from "./editor/history.ts";
import type { Highlighter } from "./markdown/render-block.ts";
import type { OutboxOptions } from "./outbox.ts";
import type { Palette } from "./paint.ts";
import type { StatusFacts } from "./view/status.ts";

export type AppOptions = OutboxOptions & {
  device: Device;
  palette: Palette;
  inputMode: InputMode;
  history: History;
  complete: Completer;
  /** Shown until the session has one. */
  model?: string;
  facts: () => Partial<StatusFacts>;
  highlight?: Highlighter;
  /** A chip for a picture whose path was pasted or dropped; undefined when the text is anything else. */
  attach?: (pasted: string) => string | undefined;
  /** A chip for the picture in the clipboard. */
  attachClipboard?: () => Promise<string>;
  /** Opens the text in the person's editor and returns what was saved. */
  externalEditor?: (text: string) => Promise<string>;
  /** Shows the whole conversation in a pager. */
  pager?: () => Promise<void>;
  /** The person's messages so far, oldest first; the command /rewind goes back to one. */
  prompts?: () => readonly string[];
  bell?: boolean;
  /** Asks the terminal for its background before the first frame; the palette follows the answer. */
  asksForBackground?: boolean;
};

/** What a session begins with. */
export type Beginning = { message?: string; draft?: string };
