const STORED = "octant-console-key";
/** As `KEY_FRAGMENT` and `KEY_HEADER` of the API say. */
const FRAGMENT = "#key=";
const HEADER = "x-octant-console";

/** Stores the key of the link that led here, and removes it from the address. False when the link was not good. */
export function takeKey(): boolean {
  const isRefused = location.pathname === REFUSED_LINK;
  if (location.hash.startsWith(FRAGMENT)) setKey(location.hash.slice(FRAGMENT.length));
  else if (!isRefused) return true;
  history.replaceState(null, "", "/console/#/now");
  return !isRefused;
}

/** A link that was accepted leads elsewhere. */
const REFUSED_LINK = "/console/open";

export function setKey(key: string | undefined): void {
  if (key === undefined) localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, key);
}

/** Read for every request: another tab may have signed in anew. */
export const headersOf = (): Readonly<Record<string, string>> => ({
  [HEADER]: localStorage.getItem(STORED) ?? "none",
});
