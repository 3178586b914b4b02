import type { Project } from "../projects/project.ts";
import { diskFull } from "./limit-watch.ts";

export interface DiskGuardOptions {
  /** The bytes that a project uses; it may stop counting beyond `enough`. */
  measure(project_id: string, enough?: number): Promise<number>;
  onFull(project: Project, used: number, disk_mb: number): Promise<void>;
}

const CHECK_MS = 3_000;
const MEGABYTE = 1024 * 1024;

/**
 * Counts what projects with a disk limit use while commands run in their containers. Engines limit single files and
 * scratch folders; no engine limits a folder of the hub's machine.
 */
export function createDiskGuard({ measure, onFull }: DiskGuardOptions) {
  const guarded = new Map<string, { commands: number; timer: NodeJS.Timeout }>();
  const full = new Map<string, number>();
  const check = async (project: Project, disk_mb: number) => {
    const limit = disk_mb * MEGABYTE;
    if ((await measure(project.id, limit)) <= limit) return void full.delete(project.id);
    const before = full.get(project.id);
    const used = await measure(project.id);
    full.set(project.id, used);
    // A command that deletes files may take its time.
    if (before === undefined || used > before) await onFull(project, used, disk_mb);
  };
  const end = (project_id: string) => {
    clearInterval(guarded.get(project_id)?.timer);
    guarded.delete(project_id);
  };
  return {
    /** Until the command has exited. */
    follow(project: Project, exited: Promise<unknown>): void {
      const { disk_mb } = project.limits;
      if (disk_mb === undefined) return;
      let isChecking = false;
      const checkOnce = () => {
        if (isChecking) return;
        isChecking = true;
        // A failed count is made again.
        void check(project, disk_mb)
          .catch(() => {})
          .finally(() => {
            isChecking = false;
          });
      };
      const entry = guarded.get(project.id) ?? {
        commands: 0,
        timer: setInterval(checkOnce, CHECK_MS).unref(),
      };
      guarded.set(project.id, entry);
      entry.commands += 1;
      const done = () => {
        entry.commands -= 1;
        if (entry.commands === 0) end(project.id);
      };
      exited.then(done, done);
    },
    /** Counts again when it was over its limit: files may have been deleted since. */
    async recount({ id, limits: { disk_mb } }: Project): Promise<void> {
      if (disk_mb === undefined || !full.has(id)) return;
      const used = await measure(id, disk_mb * MEGABYTE);
      if (used <= disk_mb * MEGABYTE) full.delete(id);
    },
    /** The sentence about a project that was over its limit when it was last counted. */
    fullOf({ id, limits: { disk_mb } }: Project): string | undefined {
      const used = full.get(id);
      return used === undefined || disk_mb === undefined ? undefined : diskFull(used, disk_mb);
    },
    close(): void {
      for (const project_id of [...guarded.keys()]) end(project_id);
    },
  };
}
