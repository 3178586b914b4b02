import { openInBrowser } from "@octant/host";
import type { Io } from "../command.ts";

/** Shows an address to the person: always as text, and in their browser when there is a desktop. */
export function showAddress(url: string, io: Io): void {
  io.stderr.write(`Open this address in a browser on this machine:\n  ${url}\n`);
  // Without a desktop the text is enough.
  openInBrowser(new URL(url), io.env, new AbortController().signal).catch(() => {});
}
