/** One step of a path into JSON: a key, an index, or every element. */
type Step = string | number | typeof ALL;

const ALL = Symbol("[*]");

const MAX_STEPS = 100;
/** A key after a dot or at the start, `[0]`, `[-1]`, `["key"]` or `[*]`. */
const STEP = /\.?([^\s.[\]"'*]+)|\[(-?\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]|\[(\*)\]/uy;

/**
 * The steps of `items[0].name`, `["a.b"].c` or `items[*].id`; a leading `$` or dot is allowed. undefined when the
 * syntax is invalid.
 */
export function parseJsonPath(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let at = path.startsWith("$") ? 1 : 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const match = STEP.exec(path);
    // A key after another one needs a dot.
    if (!match || steps.length === MAX_STEPS || (match[1] !== undefined && at > 0 && path[at] !== "."))
      return undefined;
    const [whole, key, place, quoted] = match;
    const step = key ?? (place === undefined ? quoted && parseQuoted(quoted) : Number(place)) ?? ALL;
    if (step === null) return undefined;
    steps.push(step);
    at += whole.length;
  }
  return steps;
}

function parseQuoted(text: string): string | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The value at a path; `[*]` returns a list that omits missing values below it. */
export function selectJson(
  value: unknown,
  steps: readonly Step[],
): { readonly found: boolean; readonly value: unknown } {
  let values = [value];
  let isList = false;
  for (const step of steps) {
    isList ||= step === ALL;
    values = values.flatMap((one) => follow(one, step));
  }
  if (isList) return { found: true, value: values };
  return { found: values.length > 0, value: values[0] };
}

/** None or one; for `[*]` any number. */
function follow(value: unknown, step: Step): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === ALL) return Object.values(value);
  if (Array.isArray(value)) {
    const place = typeof step === "number" ? step : /^\d{1,9}$/.test(step) ? Number(step) : undefined;
    if (place === undefined) return [];
    const at = place < 0 ? value.length + place : place;
    return at >= 0 && at < value.length ? [value[at]] : [];
  }
  const key = String(step);
  // JSON values are plain objects; only own properties count.
  return Object.hasOwn(value, key) ? [(value as Record<string, unknown>)[key]] : [];
}

/** Whether JSON is nested too deeply, counted without parsing: deeper values cannot be serialised again. */
export function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isInString && char === "\\") at++;
    else if (char === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (char === "{" || char === "[") {
      if (++depth > limit) return true;
    } else if (char === "}" || char === "]") depth--;
  }
  return false;
}
