import { isUtf8 } from "node:buffer";
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, readSync } from "node:fs";
import { errnoOf } from "../errno.ts";
import { encodeLiteral, gitId, MAX_BINARY_BYTES } from "../patch/git-binary.ts";
import { type Path, toNative } from "../path.ts";
import type { Repository } from "./git.ts";
import type { FileDiff } from "./parse-diff.ts";

/** The same changes as binary patches: bytes that are not UTF-8 cannot be shown as text. */
export async function toBinaryPatches(
  repository: Repository,
  files: readonly FileDiff[],
): Promise<FileDiff[]> {
  const ids: string[] = files
    .flatMap(({ parts }) => parts.map(newIdOf))
    .filter((id) => id !== undefined)
    .filter((id) => !NO_ID.test(id));
  const known = await readBlobs(repository, ids);
  const toPart = (name: Path, part: Buffer) =>
    isUtf8(part) ? part : toBinaryPatch(repository, name, part, known);
  return files.map((file) => ({ ...file, parts: file.parts.map((part) => toPart(file.name, part)) }));
}

const NO_ID = /^0+$/;
const HUNKS = "\n--- ";

const newIdOf = (patch: Buffer): string | undefined =>
  /^index [0-9a-f]+\.\.([0-9a-f]+)/m.exec(patch.toString("latin1", 0, patch.indexOf(HUNKS) + 1))?.[1];

/** Unchanged when the content is too large for a patch or no longer available because the file changed meanwhile. */
function toBinaryPatch(
  { folder }: Repository,
  name: Path,
  patch: Buffer,
  known: ReadonlyMap<string, Buffer>,
): Buffer {
  const id = newIdOf(patch);
  if (id === undefined) return patch;
  const content = NO_ID.test(id)
    ? Buffer.alloc(0)
    : (known.get(id) ?? contentOnDisk(`${folder}/${name}`, id));
  if (!content) return patch;
  const header = patch.subarray(0, patch.indexOf(HUNKS) + 1);
  return Buffer.concat([header, Buffer.from(`GIT binary patch\n${encodeLiteral(content)}`)]);
}

/** The content of objects by their id; one that the repository does not have is left out. */
async function readBlobs(repository: Repository, ids: readonly string[]): Promise<Map<string, Buffer>> {
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(""));
  const { stdout } = await repository.run(["cat-file", "--batch"], { input });
  return parseBatch(stdout);
}

/** `ID TYPE SIZE`, a newline, the content, a newline; or `ID missing`. */
export function parseBatch(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at);
    if (end < 0) break;
    const [id = "", , size] = output.toString("latin1", at, end).split(" ");
    at = end + 1;
    if (size === undefined) continue;
    contents.set(id, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}

/** The file's bytes, unchanged or with git's line ends, if they are the compared ones. */
function contentOnDisk(path: Path, id: string): Buffer | undefined {
  const bytes = readEntry(path);
  if (!bytes || gitId(bytes, id.length) === id) return bytes;
  const kept = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return gitId(kept, id.length) === id ? kept : undefined;
}

function readEntry(path: Path): Buffer | undefined {
  let fd: number | undefined;
  try {
    if (lstatSync(toNative(path)).isSymbolicLink())
      return readlinkSync(toNative(path), { encoding: "buffer" });
    fd = openSync(toNative(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(fd);
    if (size > MAX_BINARY_BYTES) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(fd, bytes));
  } catch (cause) {
    if (errnoOf(cause) === undefined) throw cause;
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
