/** Bigger pictures are of no use to a model; they are answered as bytes. */
export const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

/** Number of leading bytes that identify a picture. */
export const IMAGE_HEAD_BYTES = 12;

/** The media type of a picture that models accept, detected by its first bytes. SVG is text. */
export function imageType(head: Buffer): string | undefined {
  const starts = (magic: string, at = 0) => head.toString("latin1", at, at + magic.length) === magic;
  if (starts("\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts("\xff\xd8\xff")) return "image/jpeg";
  if (starts("GIF87a") || starts("GIF89a")) return "image/gif";
  if (starts("RIFF") && starts("WEBP", 8)) return "image/webp";
  return undefined;
}

/** Type and size of a PNG or JPEG picture of our own making. */
export function imageSize(bytes: Buffer): { mime: string; width: number; height: number } {
  if (bytes.readUInt32BE(0) === PNG)
    return { mime: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  for (let at = 2; at + 9 < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    if (isFrameHeader(marker))
      return { mime: "image/jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
  }
  return { mime: "image/jpeg", width: 0, height: 0 };
}

const PNG = 0x89504e47;

/** Start-of-frame segments; four numbers in their range mean something else. */
const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
