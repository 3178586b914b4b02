import type { RequestId } from "./messages.ts";

const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COLON, COMMA] = Buffer.from('"\\{}[]:,');
/** Longer top-level names and values are not an id. */
const MAX_TOKEN_BYTES = 1_024;

/**
 * Finds the `id` of a JSON-RPC message that is too large to buffer. Tracks only strings and nesting; buffers names and
 * short values at the top level, nothing below.
 */
export function createIdScanner() {
  let depth = 0;
  let inString = false;
  let escaped = false;
  let token: number[] = [];
  let name = "";
  let found: RequestId | null = null;

  const take = (): string => {
    const text = token.length > MAX_TOKEN_BYTES ? "" : Buffer.from(token).toString().trim();
    token = [];
    return text;
  };
  const endMember = () => {
    const text = take();
    if (name === '"id"') found = toId(text) ?? found;
    name = "";
  };
  const append = (byte: number) => {
    if (depth === 1 && token.length <= MAX_TOKEN_BYTES) token.push(byte);
  };
  const readStructure = (byte: number) => {
    if (byte === COLON && depth === 1) name = take();
    else if (byte === COMMA && depth === 1) endMember();
    else if (byte === OPEN || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE || byte === CLOSE_LIST) {
      if (depth === 1) endMember();
      depth--;
    } else {
      if (byte === QUOTE) inString = true;
      append(byte);
    }
  };
  return {
    feed(chunk: Uint8Array): void {
      for (const byte of chunk) {
        if (!inString) {
          readStructure(byte);
          continue;
        }
        append(byte);
        if (escaped) escaped = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) inString = false;
      }
    },
    /** null when no valid id was seen. */
    id: () => found,
  };
}

function toId(text: string): RequestId | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" || Number.isSafeInteger(value) ? (value as RequestId) : undefined;
  } catch {
    return undefined;
  }
}
