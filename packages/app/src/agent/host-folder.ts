import { createHash } from "node:crypto";
import { openStateFolder } from "@octant/host";

const MAX_NAME_CHARS = 40;
const DIGEST_CHARS = 16;

/** The folder on this side of sessions whose tools run at this address. */
export function openHostFolder(
  address: string,
  env: NodeJS.ProcessEnv,
  warn: (line: string) => void,
): string {
  const name = address.replace(/[^A-Za-z0-9]+/g, "-").slice(-MAX_NAME_CHARS);
  const digest = createHash("sha256").update(address).digest("hex").slice(0, DIGEST_CHARS);
  return openStateFolder({ roots: [], env, warn }).folder(`host${name}-${digest}`);
}
