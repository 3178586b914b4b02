import type { Clock } from "@octant/core";
import type { Device } from "./device.ts";
import type { Completer } from "./editor/completion.ts";
import type { InputMode } from "./editor/editor.ts";
import type { History } from "./editor/history.ts";
import type { Highlighter } from "./markdown/highlight.ts";
import type { Notification } from "./notification.ts";
import type { OutboxOptions } from "./outbox.ts";
import type { Palette } from "./paint.ts";
import type { StatusFacts } from "./view/status.ts";

export type AppOptions = OutboxOptions & {
  device: Device;
  clock: Clock;
  palette: Palette;
  inputMode: InputMode;
  history: History;
  complete: Completer;
  /** Shown until the session has a model. */
  model?: string;
  facts: () => Partial<StatusFacts>;
  highlight?: Highlighter;
  /** Returns a chip for a pasted or dropped path of a picture; undefined for other text. */
  attach?: (pasted: string) => string | undefined;
  /** Returns a chip for the picture in the clipboard. */
  attachClipboard?: () => Promise<string>;
  /** Opens the text in the person's editor and returns the saved text. */
  externalEditor?: (text: string) => Promise<string>;
  /** Lets running commands continue in the background, and says how many. */
  toBackground?: () => number;
  /** Switches to the next mode of the session, and says what it does. */
  nextMode?: () => Promise<string>;
  /** Shows the whole conversation in a pager. */
  pager?: () => Promise<void>;
  /** The person's messages so far, oldest first; /rewind returns to one. */
  prompts?: () => readonly string[];
  bell?: boolean;
  /** Shows a desktop notification. */
  notify?: (notification: Notification) => Promise<void>;
  /** A text for the person, with our commands as they have to type them. */
  asTyped?: (text: string) => string;
  /** Where the terminal does not report its focus: how long the person must have typed nothing. */
  notifyAfterMs?: number;
  /** Queries the terminal's background colour before the first frame; the palette follows it. */
  asksForBackground?: boolean;
};

/** The initial message or draft of a session. */
export type Beginning = { message?: string; draft?: string };
