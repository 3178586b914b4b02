const MAX_SNIFFED_BYTES = 1_024;
const BOMS: readonly (readonly [string, string])[] = [
  ["utf-8", "\xef\xbb\xbf"],
  ["utf-16le", "\xff\xfe"],
  ["utf-16be", "\xfe\xff"],
];

/** The text of a body: by its mark, by what the header says, by what the page says of itself, else as UTF-8. */
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
    // A name that nobody knows says nothing.
    return new TextDecoder().decode(bytes);
  }
}
