import type { Repository } from "./git.ts";

/** The content of objects by their id; one that the repository does not have is left out. */
export async function readBlobs(
  repository: Repository,
  ids: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, Buffer>> {
  const input = Buffer.from(ids.map((id) => `${id}\n`).join(""));
  const { stdout } = await repository.run(["cat-file", "--batch"], { input, signal });
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
