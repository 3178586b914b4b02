import {
  exportHtml,
  exportJson,
  exportMarkdown,
  FileSessionStore,
  type SessionInfo,
  type SessionStore,
  type StampedEvent,
} from "@octant/agent";
import type { Caller } from "@octant/core";
import { createLock, type Workspace } from "@octant/host";

/** The conversations of a workspace; each remote owner has its own, in a folder named by a digest. */
export const openSessions = ({ state }: Pick<Workspace, "state">, owner?: Pick<Caller, "id">): SessionStore =>
  openSessionStore(state.folder(owner ? `owners/${owner.id}` : "sessions"));

export const openSessionStore = (folder: string): SessionStore =>
  new FileSessionStore({ folder, lock: lockSession });

/** Not the conversation of a sub-agent. */
export const isOwnSession = ({ parent }: SessionInfo): boolean => parent?.kind !== "agent";

const GIVE_UP_MS = 300;

/** Locks a session's log against other processes; the kernel releases the lock when this process dies. */
export async function lockSession(file: string): Promise<() => Promise<void>> {
  const doing = "working in this session";
  const lock = createLock(`${file}.lock`, { doing, place: "the folder of sessions", giveUpMs: GIVE_UP_MS });
  const held = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const done = lock.hold(() => {
    held.resolve();
    return closed.promise;
  });
  done.catch(held.reject);
  try {
    await held.promise;
  } catch (cause) {
    await lock.close();
    throw cause;
  }
  return async () => {
    closed.resolve();
    await done;
    await lock.close();
  };
}

export const EXPORT_FORMATS = ["json", "markdown", "html"] as const;

/** A session as one file for people or programs. */
export async function exportSession(
  stored: AsyncIterable<StampedEvent>,
  format: (typeof EXPORT_FORMATS)[number],
): Promise<string> {
  const events = await Array.fromAsync(stored);
  if (format === "json") return exportJson(events);
  if (format === "markdown") return exportMarkdown(events);
  const { markdownToHtml } = await import("./markdown-to-html.ts");
  return exportHtml(events, markdownToHtml);
}
