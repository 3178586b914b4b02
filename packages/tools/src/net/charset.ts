const MAX_SNIFFED_BYTES = 1_024;
const BOMS: readonly (readonly [string, string])[] = [
  ["utf-8", "\xef\xbb\xbf"],
  ["utf-16le", "\xff\xfe"],
  ["utf-16be", "\xfe\xff"],
];

/** Decodes a body by its byte order mark, the header, or the page's own declaration; otherwise as UTF-8. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const head = bytes.toString("latin1", 0, MAX_SNIFFED_BYTES);
  const marked = BOMS.find(([, mark]) => head.startsWith(mark))?.[0];
  const label =
    marked ?? charsetIn(contentType) ?? (/html|xml/.test(contentType) ? charsetIn(head) : undefined);
  return decodeAs(label ?? "utf-8", bytes);
}

const charsetIn = (text: string): string | undefined =>
  /(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(text)?.[1];

function decodeAs(label: string, bytes: Buffer): string {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    // An unknown name is ignored.
    return new TextDecoder().decode(bytes);
  }
}
