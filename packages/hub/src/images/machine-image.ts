import { createHash } from "node:crypto";
import { lstatSync, readlinkSync } from "node:fs";
import { Readable } from "node:stream";
import { attempt } from "@octant/core";
import type { MachineImage } from "../engines/docker-spec.ts";
import type { ContainerEngine, Mount } from "../engines/engine.ts";
import { TAR_END, type TarEntry, toTarEntries } from "./tar.ts";

/** The parts of the machine that a container sees: programs and libraries, nothing of its users or its settings. */
export const MACHINE_PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];
export const MACHINE_SETTINGS = [
  "/etc/alternatives",
  "/etc/ca-certificates",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/ssl",
];
const FOLDERS = ["proc", "dev", "sys", "tmp", "root", "etc", "run", "var", "opt"];
const HASH_CHARS = 12;

/**
 * An image without programs: those of the hub's machine are mounted into it read-only, so a container needs neither a
 * registry nor a build.
 */
export function toMachineImage(user: string): MachineImage & { readonly archive: Buffer } {
  const entries: TarEntry[] = FOLDERS.map((name) => ({ name: `${name}/` }));
  const mounts: Mount[] = [];
  for (const path of MACHINE_PROGRAMS) {
    const stat = attempt(() => lstatSync(path));
    if (stat?.isSymbolicLink()) entries.push({ name: path.slice(1), link: readlinkSync(path) });
    if (!stat?.isDirectory()) continue;
    entries.push({ name: `${path.slice(1)}/` });
    mounts.push({ source: path, target: path, readOnly: true });
  }
  for (const path of MACHINE_SETTINGS)
    if (attempt(() => lstatSync(path))) mounts.push({ source: path, target: path, readOnly: true });
  const [uid = "0", gid = "0"] = user.split(":");
  const person = uid === "0" ? "" : `octant:x:${uid}:${gid}::/root:/bin/sh\n`;
  entries.push(
    { name: "etc/passwd", content: `root:x:0:0:root:/root:/bin/sh\n${person}` },
    { name: "etc/group", content: `root:x:0:\n${gid === "0" ? "" : `octant:x:${gid}:\n`}` },
  );
  const archive = Buffer.concat([toTarEntries(entries), TAR_END]);
  const hash = createHash("sha256").update(archive).digest("hex").slice(0, HASH_CHARS);
  return { image: `localhost/octant-machine:${hash}`, mounts, archive };
}

/** Makes the image where it is missing, which takes a fraction of a second. */
export async function ensureMachineImage(
  engine: Pick<ContainerEngine, "hasImage" | "importImage">,
  { image, archive }: ReturnType<typeof toMachineImage>,
): Promise<void> {
  if (!(await engine.hasImage(image)))
    await engine.importImage(image, Readable.from([archive]), new AbortController().signal);
}
