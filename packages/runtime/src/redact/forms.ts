/** Shorter values are words such as `true` or `test`, which occur everywhere. */
export const MIN_SECRET_CHARS = 8;

/** The forms in which a secret may occur in a text: plain, escaped, URL-encoded, or inside base64. */
export function toForms(secret: string): string[] {
  // A lone surrogate cannot be encoded.
  const uri = encodeURIComponent(secret.toWellFormed());
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    uri,
    uri.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    uri.replaceAll("%20", "+"),
    ...toBase64Forms(Buffer.from(secret)),
  ];
  return [...new Set(forms)].filter((form) => form.length >= MIN_SECRET_CHARS);
}

const BITS_PER_BYTE = 8;
const BITS_PER_DIGIT = 6;
const BYTES_PER_GROUP = 3;

/** Base64 has three ways to write the same bytes, by where in a group of three they begin; the digits shared with neighbours are left out. */
function toBase64Forms(secret: Buffer): string[] {
  return Array.from({ length: BYTES_PER_GROUP }, (_, before) => {
    const digits = Buffer.concat([Buffer.alloc(before), secret]).toString("base64");
    const first = Math.ceil((before * BITS_PER_BYTE) / BITS_PER_DIGIT);
    const end = Math.floor(((before + secret.length) * BITS_PER_BYTE) / BITS_PER_DIGIT);
    return digits.slice(first, end);
  }).flatMap((digits) => [digits, digits.replaceAll("+", "-").replaceAll("/", "_")]);
}
