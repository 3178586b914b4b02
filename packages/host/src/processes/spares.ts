import { randomBytes } from "node:crypto";
import { close, closeSync, open, openSync, renameSync } from "node:fs";
import { join } from "node:path";

/** Empty files made ahead of time. Making one takes up to a millisecond on some disks; renaming one takes next to nothing. */
export interface Spares {
  /** A new file at the path, open for writing. */
  take(path: string): number;
  close(): void;
}

const READY = 16;
/** Made many at a time, and else when nothing happens, so that most starts need not share the machine with it. */
const FEWEST = 8;
const QUIET_MS = 100;
const MODE = 0o600;

export function createSpares(folder: string): Spares {
  const ready: { readonly fd: number; readonly path: string }[] = [];
  let making = 0;
  let closed = false;

  const refill = () => {
    for (; ready.length + making < READY; making++) {
      const path = join(folder, randomBytes(8).toString("hex"));
      open(path, "wx", MODE, (failure, fd) => {
        making -= 1;
        if (failure) return;
        if (closed) close(fd);
        else ready.push({ fd, path });
      });
    }
  };
  refill();
  const topUp = setTimeout(refill, QUIET_MS).unref();

  return {
    take(path) {
      const spare = ready.pop();
      if (ready.length + making < FEWEST) refill();
      else topUp.refresh();
      if (!spare) return openSync(path, "wx", MODE);
      renameSync(spare.path, path);
      return spare.fd;
    },
    close() {
      closed = true;
      clearTimeout(topUp);
      for (const { fd } of ready.splice(0)) closeSync(fd);
    },
  };
}
