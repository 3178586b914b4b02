/** Bigger pictures are of no use to a model; they are answered as bytes. */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Number of leading bytes that identify a picture. */
export const IMAGE_HEAD_BYTES = 12;

/** The media type of a picture that models accept, detected by its first bytes. SVG is text. */
export function imageType(head: Buffer): string | undefined {
  if (!FIRST_BYTES.has(head[0] ?? 0)) return undefined;
  const starts = (magic: string, at = 0) => head.toString("latin1", at, at + magic.length) === magic;
  if (starts("\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts("\xff\xd8\xff")) return "image/jpeg";
  if (starts("GIF87a") || starts("GIF89a")) return "image/gif";
  if (starts("RIFF") && starts("WEBP", 8)) return "image/webp";
  return undefined;
}

/** First bytes of PNG, JPEG, GIF and RIFF; rules out nearly every other file at once. */
const FIRST_BYTES: ReadonlySet<number> = new Set([0x89, 0xff, 0x47, 0x52]);
