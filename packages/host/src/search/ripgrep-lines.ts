/** A JSON line up to this length passes unchanged. */
export const MAX_LINE_BYTES = 65_536;
/** In longer ones each string is cut to this… */
export const MAX_STRING_BYTES = 16_384;
/** …and when it is still longer than this, the list of submatches ends early. */
export const MAX_SHORTENED_BYTES = 1_048_576;

const LINE_FEED = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const UNICODE_ESCAPE = 0x75;
const OPEN_BRACE = 0x7b;

/**
 * Cuts ripgrep's output into its JSON lines. ripgrep prints a matching line whole, even one of 100 MB; such a message
 * comes out shortened but still valid, so that memory stays bounded.
 */
export function createLineSplitter(): (chunk: Buffer) => Buffer[] {
  let line = newLine();
  return (chunk) => {
    const lines: Buffer[] = [];
    for (let from = 0; ; ) {
      const end = chunk.indexOf(LINE_FEED, from);
      if (end === -1) {
        if (from < chunk.length) line.push(chunk.subarray(from));
        return lines;
      }
      line.push(chunk.subarray(from, end));
      lines.push(line.end());
      line = newLine();
      from = end + 1;
    }
  };
}

function newLine() {
  const parts: Buffer[] = [];
  let bytes = 0;
  let shortener: Shortener | undefined;
  return {
    push(part: Buffer): void {
      bytes += part.length;
      if (bytes <= MAX_LINE_BYTES) {
        parts.push(part);
        return;
      }
      if (!shortener) {
        shortener = createShortener();
        for (const earlier of parts) shortener.push(earlier);
      }
      shortener.push(part);
    },
    end: (): Buffer => shortener?.end() ?? (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)),
  };
}

interface Shortener {
  push(part: Buffer): void;
  end(): Buffer;
}

const AFTER_BACKSLASH = 5;
const HEX_DIGITS = 4;

function createShortener(): Shortener {
  // Room for the end of the list, and for what may follow the limit before the next submatch.
  const out = Buffer.allocUnsafe(MAX_SHORTENED_BYTES + 4 * MAX_STRING_BYTES);
  let length = 0;
  let previous = 0;
  let inString = false;
  let cut = false;
  let stringBytes = 0;
  let escaped = 0;
  let closed = false;

  const insideString = (byte: number): void => {
    if (escaped === 0 && byte === QUOTE) {
      inString = false;
      out[length++] = byte;
      return;
    }
    const startsCharacter = escaped === 0 && (byte & 0xc0) !== 0x80;
    if (startsCharacter && stringBytes >= MAX_STRING_BYTES) cut = true;
    if (escaped === AFTER_BACKSLASH) escaped = byte === UNICODE_ESCAPE ? HEX_DIGITS : 0;
    else if (escaped > 0) escaped--;
    else if (byte === BACKSLASH) escaped = AFTER_BACKSLASH;
    stringBytes++;
    if (!cut) out[length++] = byte;
  };

  const outsideString = (byte: number): void => {
    // Only the list of submatches has objects one after the other.
    if (byte === OPEN_BRACE && previous === COMMA && length > MAX_SHORTENED_BYTES) {
      length += out.write("]}}", length - 1) - 1;
      closed = true;
      return;
    }
    if (byte === QUOTE) {
      inString = true;
      cut = false;
      stringBytes = 0;
    }
    previous = byte;
    out[length++] = byte;
  };

  return {
    push(part) {
      for (let i = 0; i < part.length && !closed; i++) {
        const byte = part[i] as number;
        if (inString) insideString(byte);
        else outsideString(byte);
      }
    },
    end: () => Buffer.from(out.subarray(0, length)),
  };
}
