import { createEngine } from "./engine.ts";
import { createMarks } from "./marks.ts";
import { createNaming } from "./naming.ts";
import { createReading } from "./reading.ts";
import { createRendering } from "./rendering.ts";
import { createTexts } from "./texts.ts";

export type { ChangesAnswer, TreeAnswer, TreeRequest } from "./requests.ts";

/** Code editors that draw their text themselves: Monaco, Ace, CodeMirror 5. */
export const EDITORS = ".monaco-editor, .ace_editor, .CodeMirror";

/**
 * Runs inside pages, in a world that their scripts cannot reach. It is registered as a selector engine, the
 * documented way into that world; an answer that is not an element is returned as the text of a detached one. Each
 * part uses only its parameters, so that its source is self-contained. A document has one engine, shared by all
 * callers, so that refs are the same for each.
 */
export const PAGE_SCRIPT = `(globalThis.octantEngine ??= (() => {
  const refs = { byElement: new WeakMap(), byRef: new Map(), next: 1 };
  const host = { current: undefined };
  const texts = (${createTexts})();
  const naming = (${createNaming})(texts);
  const reading = (${createReading})(texts, naming, { host: () => host.current }, ${JSON.stringify(EDITORS)});
  const rendering = (${createRendering})(texts, reading, refs);
  const marks = (${createMarks})(host, naming, reading, refs);
  return (${createEngine})(reading, rendering, marks, refs);
})())`;
