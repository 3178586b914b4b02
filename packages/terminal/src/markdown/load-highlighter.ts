import { plainLines } from "./highlight.ts";
import type { Highlighter } from "./render-block.ts";

/** Colours code once the grammars are loaded; plain until then. */
export function loadHighlighter(): Highlighter {
  let loaded: Highlighter | undefined;
  Promise.all([import("lowlight"), import("./highlight.ts")]).then(
    ([{ common, createLowlight }, { highlight }]) => {
      const lowlight = createLowlight(common);
      loaded = (code, language) => highlight(lowlight, code, language);
    },
    () => {},
  );
  return (code, language) => loaded?.(code, language) ?? plainLines(code);
}
