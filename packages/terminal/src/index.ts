export { TerminalApp } from "./app.ts";
export type { AppOptions, Beginning } from "./app-options.ts";
export { type Device, processDevice, type TerminalInput, toInput } from "./device.ts";
export type { Completer, Completion } from "./editor/completion.ts";
export type { InputMode } from "./editor/editor.ts";
export { type History, openHistory } from "./editor/history.ts";
export { loadHighlighter } from "./markdown/load-highlighter.ts";
export { MdRenderer } from "./markdown/md-renderer.ts";
export { markdownToHtml } from "./markdown/to-html.ts";
export { runPager } from "./pager.ts";
export { type Background, type ColorDepth, type Palette, paint } from "./paint.ts";
export { asksForBackground, paletteOf } from "./palette.ts";
export { PlainApp } from "./plain-app.ts";
export { type Line, plainText, type Role, type Span, type Style, span, wrap } from "./styled.ts";
export type { StatusFacts } from "./view/status.ts";
export { viewTranscript } from "./view/whole-transcript.ts";
export {
  createVimState,
  expirePending,
  PENDING_TIMEOUT_MS,
  pressKey,
  selection,
  type VimEffect,
  type VimResult,
  type VimState,
} from "./vim/index.ts";
