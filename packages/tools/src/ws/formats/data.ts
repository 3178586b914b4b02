/**
 * Untrusted data of any shape: access never throws, and missing values are empty. Only own properties count, so that
 * `__proto__` and `constructor` are ordinary names.
 */
export interface Data {
  /** Follows the keys; empty when the path ends early. */
  get(...keys: readonly string[]): Data;
  /** The trimmed value when it is a text of reasonable length. */
  readonly text: string | undefined;
  /** The texts of a list; a single text counts as a list of one. */
  readonly texts: readonly string[];
  readonly items: readonly Data[];
  readonly keys: readonly string[];
  readonly isPresent: boolean;
}

const MAX_TEXT_CHARS = 1_000;
const MAX_ITEMS = 2_000;

export const toData = (value: unknown): Data => ({
  get: (...keys) => toData(keys.reduce(ownValue, value)),
  get text() {
    return toText(value);
  },
  get texts() {
    const list = Array.isArray(value) ? value.slice(0, MAX_ITEMS) : [value];
    return list.map(toText).filter((text) => text !== undefined);
  },
  get items() {
    return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map(toData) : [];
  },
  get keys() {
    return isRecord(value) ? Object.keys(value).slice(0, MAX_ITEMS).filter(isSensible) : [];
  },
  isPresent: value !== undefined && value !== null,
});

const ownValue = (value: unknown, key: string): unknown =>
  isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const toText = (value: unknown): string | undefined => {
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return isSensible(text) ? text : undefined;
};

const isSensible = (text: string): boolean => text.length > 0 && text.length <= MAX_TEXT_CHARS;
