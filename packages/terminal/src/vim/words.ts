import type { Motion, MotionContext } from "./motions.ts";
import { classAt, isEmptyLine, lineEnd, lineStart, next, onCharacter, previous } from "./text.ts";

export function wordForward(context: MotionContext, bigWord: boolean): Motion | undefined {
  const { text, cursor, operator } = context;
  if (operator === "c" && classAt(text, cursor, bigWord) !== "blank") return wordEnd(context, bigWord, true);
  let to = cursor;
  for (let left = context.count ?? 1; left > 0; left--) {
    const stopAtLineEnd = operator !== undefined && left === 1;
    const reached = oneWordForward(text, to, bigWord, stopAtLineEnd);
    if (reached === undefined) {
      if (operator === undefined && onCharacter(text, to) === cursor) return;
      to = text.length;
      break;
    }
    to = reached;
  }
  if (operator === undefined) to = onCharacter(text, to);
  return { to, kind: "exclusive" };
}

/** Returns undefined when there is no next word. */
function oneWordForward(
  text: string,
  from: number,
  bigWord: boolean,
  stopAtLineEnd: boolean,
): number | undefined {
  const first = classAt(text, from, bigWord);
  const lastLine = lineEnd(text, from) === text.length;
  let at = next(text, from);
  const leftLine = at >= lineEnd(text, from);
  if (leftLine && lastLine) return;
  if (leftLine && stopAtLineEnd) return at;
  if (first !== "blank") {
    while (classAt(text, at, bigWord) === first) {
      at = next(text, at);
      if (at >= text.length || (stopAtLineEnd && text[at] === "\n")) return at;
    }
  }
  while (classAt(text, at, bigWord) === "blank" && !isEmptyLine(text, at)) {
    if (at >= text.length || (stopAtLineEnd && text[at] === "\n")) return at;
    at = next(text, at);
  }
  return at;
}

export function wordBack({ text, cursor, count = 1 }: MotionContext, bigWord: boolean): Motion | undefined {
  let at = cursor;
  for (let i = 0; i < count; i++) {
    if (at === 0) return i === 0 ? undefined : { to: 0, kind: "exclusive" };
    at = previous(text, at);
    while (at > 0 && classAt(text, at, bigWord) === "blank" && !isEmptyLine(text, at))
      at = previous(text, at);
    if (classAt(text, at, bigWord) === "blank") continue;
    at = startOfRun(text, at, bigWord);
  }
  return { to: at, kind: "exclusive" };
}

/** `stay` is how `cw` differs from `ce`: on the last character of a word it goes no further. */
export function wordEnd(context: MotionContext, bigWord: boolean, stay: boolean): Motion | undefined {
  const { text, cursor, count = 1 } = context;
  let at = cursor;
  for (let i = 0; i < count; i++) {
    const here = classAt(text, at, bigWord);
    if (at >= text.length || next(text, at) >= text.length) {
      return { to: onCharacter(text, text.length), kind: "inclusive" };
    }
    let to = next(text, at);
    if (here === "blank" || classAt(text, to, bigWord) !== here) {
      if (stay && i === 0 && here !== "blank") continue;
      while (to < text.length && classAt(text, to, bigWord) === "blank") to = next(text, to);
      if (to >= text.length) return { to: onCharacter(text, text.length), kind: "inclusive" };
    }
    at = endOfRun(text, to, bigWord);
  }
  return { to: at, kind: "inclusive" };
}

export function wordEndBack(
  { text, cursor, count = 1, operator }: MotionContext,
  bigWord: boolean,
): Motion | undefined {
  let at = cursor;
  for (let i = 0; i < count; i++) {
    if (at === 0) return i === 0 || operator !== undefined ? undefined : { to: 0, kind: "inclusive" };
    const here = classAt(text, at, bigWord);
    at = previous(text, at);
    if (here !== "blank") while (at > 0 && classAt(text, at, bigWord) === here) at = previous(text, at);
    while (at > 0 && classAt(text, at, bigWord) === "blank" && !isEmptyLine(text, at))
      at = previous(text, at);
  }
  return { to: at, kind: "inclusive" };
}

export function startOfRun(text: string, from: number, bigWord: boolean): number {
  return extend(text, from, lineStart(text, from), bigWord, previous);
}

export function endOfRun(text: string, from: number, bigWord: boolean): number {
  return extend(text, from, Math.max(from, onCharacter(text, lineEnd(text, from))), bigWord, next);
}

function extend(text: string, from: number, limit: number, bigWord: boolean, step: typeof next): number {
  const kind = classAt(text, from, bigWord);
  let at = from;
  while (at !== limit && classAt(text, step(text, at), bigWord) === kind) at = step(text, at);
  return at;
}
