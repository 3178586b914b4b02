import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Confinement, StateFolder } from "@octant/host";
import type { TermCutter } from "@octant/search";
import { type MemoryItem, type MemoryStore, openMemoryStore } from "./memory-store.ts";
import { createSharedFolder } from "./shared-folder.ts";

/**
 * The memory stores by scope: session memories end with the process, the project's are private or shared, global ones
 * are for all projects.
 */
export function openStores(
  { state, confinement }: { readonly state: StateFolder; readonly confinement: Confinement },
  { shared: isShared, cut }: { readonly shared: boolean; readonly cut: TermCutter },
) {
  const folder = isShared ? createSharedFolder(confinement) : undefined;
  const open = async () => {
    const [session, own, files, global] = await Promise.all([
      openMemoryStore(cut),
      openMemoryStore(cut, state.folder("memory")),
      openMemoryStore(cut),
      openMemoryStore(cut, globalFolder(state)),
    ]);
    const shared: MemoryStore = {
      ...files,
      // The file is authoritative; the store follows it.
      put: (item) => folder?.put(item),
      remove(memory_id) {
        folder?.remove(memory_id);
        return true;
      },
    };
    return { session, own, files, shared, global };
  };
  let opened: ReturnType<typeof open> | undefined;
  const use = async () => {
    opened ??= open();
    const stores = await opened;
    folder?.sync(stores.files);
    return stores;
  };
  return {
    /** Up to date with the shared files. */
    async all(): Promise<readonly MemoryStore[]> {
      const { session, own, shared, global } = await use();
      return [session, own, shared, global];
    },
    /** The store for new memories of this scope. */
    async of(scope: MemoryItem["scope"]): Promise<MemoryStore> {
      const stores = await use();
      return scope === "project" ? stores[folder ? "shared" : "own"] : stores[scope];
    },
  };
}

/** Next to the folders of all workspaces. */
function globalFolder({ base }: StateFolder): string {
  const folder = join(base, "memory");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
