const STORED = "octant-console-key";
/** As `KEY_FRAGMENT` and `KEY_HEADER` of the API say. */
const FRAGMENT = "#key=";
const HEADER = "x-octant-console";

/** Stores the key of the link that led here, and removes it from the address. */
export function takeKey(): void {
  if (!location.hash.startsWith(FRAGMENT)) return;
  setKey(location.hash.slice(FRAGMENT.length));
  history.replaceState(null, "", "#/now");
}

export function setKey(key: string | undefined): void {
  if (key === undefined) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, key);
}

/** Read for every request: another tab may have signed in anew. */
export const headersOf = (): Readonly<Record<string, string>> => ({
  [HEADER]: localStorage.getItem(STORED) ?? "none",
});
