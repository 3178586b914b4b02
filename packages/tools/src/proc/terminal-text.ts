const ESC = 0x1b;
const BEL = 0x07;
const CSI = 0x9b;
const ST = 0x9c;
/** DCS, SOS, OSC, PM, APC as C1 characters, and their letters after ESC. */
const STRINGS_C1 = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f]);
const STRINGS = new Set(["P", "X", "]", "^", "_"].map((letter) => letter.charCodeAt(0)));
const PRESERVED = new Set(["\b", "\t", "\n", "\r"].map((letter) => letter.charCodeAt(0)));

const ANY_CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

type State = "text" | "escape" | "intermediate" | "sequence" | "string" | "string-escape";

/**
 * Removes terminal control sequences from text that arrives in chunks. Looks at each character once: output is
 * untrusted, and a regular expression could backtrack.
 */
export function createEscapeStripper() {
  let state: State = "text";
  return {
    push(part: string): string {
      if (state === "text" && !ANY_CONTROL.test(part)) return part;
      let kept = "";
      for (let i = 0; i < part.length; i++) {
        const code = part.charCodeAt(i);
        if (state === "text" && isShown(code)) kept += part[i];
        state = next(state, code);
      }
      return kept;
    },
  };
}

function next(state: State, code: number): State {
  switch (state) {
    case "text":
      if (code === ESC) return "escape";
      if (code === CSI) return "sequence";
      return STRINGS_C1.has(code) ? "string" : "text";
    case "escape":
      if (code === 0x5b) return "sequence";
      if (STRINGS.has(code)) return "string";
      if (code === ESC) return "escape";
      return code >= 0x20 && code <= 0x2f ? "intermediate" : "text";
    case "intermediate":
      return code >= 0x20 && code <= 0x2f ? "intermediate" : "text";
    case "sequence":
      if (code === ESC) return "escape";
      return code >= 0x20 && code <= 0x3f ? "sequence" : "text";
    case "string":
      if (code === ESC) return "string-escape";
      return code === BEL || code === ST ? "text" : "string";
    case "string-escape":
      // ESC \ ends the string; any other escape ends it too and starts a new sequence.
      return code === 0x5c ? "text" : next("escape", code);
  }
}

/** Control characters and direction marks are not shown. */
function isShown(code: number): boolean {
  if (code < 0x20) return PRESERVED.has(code);
  if (code < 0x7f) return true;
  if (code < 0xa0) return false;
  return !((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069));
}

/** The text as a screen would show it: no escapes, and only the last state of a redrawn line. */
export function toPlainText(text: string): string {
  const stripped = createEscapeStripper().push(text);
  if (!stripped.includes("\r") && !stripped.includes("\b")) return stripped;
  return stripped.split("\n").map(redrawn).join("\n");
}

function redrawn(line: string): string {
  const visible = line.split("\r").findLast((part) => part !== "") ?? "";
  if (!visible.includes("\b")) return visible;
  const shown: string[] = [];
  for (const char of visible) {
    if (char === "\b") shown.pop();
    else shown.push(char);
  }
  return shown.join("");
}
