/** A call as a line for a terminal: `octant call fs.read uri=README.md`. */
export function toCommand(tool: string, action: string, input: unknown, root?: string): string {
  const call = `octant call ${root === undefined ? "" : `--root ${quote(root)} `}${quote(`${tool}.${action}`)}`;
  const entries = Object.entries(Object(input));
  if (entries.length === 0) return call;
  if (entries.every(([, value]) => isPlain(value)))
    return `${call} ${entries.map(([key, value]) => quote(`${key}=${escapeAt(String(value))}`)).join(" ")}`;
  return `${call} ${quote(JSON.stringify(input))}`;
}

/** Whether `key=value` is read back as the same value, whatever types the action takes. */
function isPlain(value: unknown): boolean {
  if (typeof value === "number" || typeof value === "boolean") return true;
  return typeof value === "string" && value !== "" && !/[\n\r]/.test(value) && !isJson(value);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `@` alone would name a file. */
const escapeAt = (text: string): string => (text.startsWith("@") ? `@${text}` : text);

/** For a POSIX shell. */
const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
