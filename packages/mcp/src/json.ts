/** Far above any message of the protocol, far below what exhausts a stack or a heap. */
export const MAX_JSON_DEPTH = 64;

/** Parses text whose nesting is bounded; throws a SyntaxError for anything else. */
export function parseJson(text: string): unknown {
  // JSON.parse takes ten million brackets and 700 MB for them, so the depth is counted before it runs.
  if (hasManyOpenings(text) && isTooDeep(text))
    throw new SyntaxError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What opens fewer brackets than that is not deeper either; most messages open a handful. */
function hasManyOpenings(text: string): boolean {
  let count = 0;
  for (const opening of ["{", "["])
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1))
      if (++count > MAX_JSON_DEPTH) return true;
  return false;
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth--;
  }
  return false;
}

/** Long strings are crossed at the speed of indexOf. */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return quote;
  }
  return text.length;
}
