/** A place in the console: a view, one item in it, and what it shows. Every place has an address. */
export interface Route {
  readonly view: string;
  readonly item: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/** Reads the part of the address after `#`. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const [view = "", ...rest] = path.split("/");
  const item = rest.map(decode).join("/");
  const query = Object.fromEntries(new URLSearchParams(search));
  return { view: view || "now", item: item || undefined, query };
}

export function toHash(
  view: string,
  item?: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const set = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = new URLSearchParams(set).toString();
  const path = item ? `/${item.split("/").map(encodeURIComponent).join("/")}` : "";
  return `#/${view}${path}${search ? `?${search}` : ""}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
