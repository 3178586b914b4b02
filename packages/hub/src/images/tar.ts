/** A file, folder or link of a tar archive. */
export interface TarEntry {
  readonly name: string;
  readonly content?: string;
  /** The target of a symbolic link. */
  readonly link?: string;
  readonly mode?: number;
}

const BLOCK = 512;
const MAX_NAME = 100;
const CHECKSUM_AT = 148;
const CHECKSUM_END = 156;
const SPACE = 32;
const TYPES = { file: "0", link: "2", folder: "5" } as const;

/** Entries in the ustar format, without the two empty blocks that end an archive: another archive may follow. */
export const toTarEntries = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat(entries.flatMap(toBlocks));

export const TAR_END = Buffer.alloc(2 * BLOCK);

/** A name that ends with a slash is a folder. */
function toBlocks({ name, content = "", link = "", mode }: TarEntry): Buffer[] {
  if (Buffer.byteLength(name) > MAX_NAME || Buffer.byteLength(link) > MAX_NAME)
    throw new Error(`the name is too long for an archive: ${name}`);
  const body = Buffer.from(content);
  const kind = link !== "" ? "link" : name.endsWith("/") ? "folder" : "file";
  const header = Buffer.alloc(BLOCK);
  const number = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  header.write(name, 0);
  number(mode ?? (kind === "file" ? 0o644 : 0o755), 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  number(body.length, 124, 12);
  number(0, 136, 12);
  header.fill(SPACE, CHECKSUM_AT, CHECKSUM_END);
  header.write(TYPES[kind], 156);
  header.write(link, 157);
  header.write("ustar\x0000", 257, "latin1");
  number(
    header.reduce((sum, byte) => sum + byte, 0),
    CHECKSUM_AT,
    7,
  );
  return [header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)];
}
