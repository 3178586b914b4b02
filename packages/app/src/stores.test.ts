import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBlobs } from "@octant/host";
import type { AuditLog } from "@octant/runtime";
import type { MemoryItem, MemoryStore } from "@octant/tools";
import { expect, test } from "vitest";
import { createOctant } from "./octant.ts";

/** A log in another process answers later. */
function createSlowLog() {
  const entries: { readonly kind: string }[] = [];
  const log: AuditLog = {
    async append(entry) {
      await new Promise(setImmediate);
      return `place ${entries.push(entry)}`;
    },
    appendSoon: (make) => void entries.push(make()),
    close: () => expect.unreachable("its owner closes it"),
  };
  return { log, entries };
}

/** Only what memory.create and memory.manage use. */
function createMemories(): { readonly store: MemoryStore; readonly items: MemoryItem[] } {
  const items: MemoryItem[] = [];
  const unused = () => expect.unreachable();
  const store: MemoryStore = {
    put: async (item) => void items.push(item),
    list: async ({ scopes }) => items.filter(({ scope }) => scopes.includes(scope)),
    get: unused,
    remove: unused,
    match: unused,
    placed: unused,
    unplaced: unused,
    place: unused,
    read: unused,
    close: unused,
  };
  return { store, items };
}

test("contents, calls and memories go to the stores that a program gives, and nothing of them to the state folder", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-stores-")));
  const [root, state, elsewhere] = ["project", "state", "elsewhere"].map((name) => join(base, name));
  for (const folder of ["project", "home"]) mkdirSync(join(base, folder));
  writeFileSync(join(root!, "a.txt"), "old\n");
  const blobs = createBlobs(elsewhere!);
  const audit = createSlowLog();
  const memories = { project: createMemories(), global: createMemories() };
  const octant = createOctant({
    roots: [root!],
    env: { PATH: process.env["PATH"], HOME: join(base, "home"), XDG_STATE_HOME: state! },
    tools: ["fs", "memory"],
    stores: { blobs, audit: audit.log, memory: async (scope) => memories[scope].store },
  });
  try {
    const { fs, memory } = octant.client;
    const { hash } = await fs.read({ uri: "a.txt" });
    const patch = [{ op: "replace" as const, old: "old", new: "new" }];
    const { undo } = await fs.apply_patch({ uri: "a.txt", base_hash: hash!, patch });
    await fs.apply_patch({ patch: undo! });
    expect(readFileSync(join(root!, "a.txt"), "utf8")).toBe("old\n");
    await memory.create({ text: "of the project" });
    await memory.create({ text: "of all projects", scope: "global" });
    expect((await memory.manage({})).memories).toHaveLength(2);
    await octant.close();
    expect(memories.project.items.map(({ text }) => text)).toEqual(["of the project"]);
    expect(memories.global.items.map(({ text }) => text)).toEqual(["of all projects"]);
    expect(audit.entries.filter(({ kind }) => kind === "begin")).toHaveLength(4);
    expect(audit.entries).toContainEqual(
      expect.objectContaining({ kind: "call", action: "fs.apply_patch", began: "place 2" }),
    );
    expect(blobs.get(undo!.slice("blob:".length)).length).toBeGreaterThan(0);
    expect(globSync(`${state}/**/{blobs,memory,audit}*.sqlite`)).toEqual([]);
    expect(globSync(`${state}/**/audit/*`)).toEqual([]);
  } finally {
    await octant.close();
    blobs.close();
    rmSync(base, { recursive: true, force: true });
  }
});

test("a call that changes something waits until a log elsewhere has its entry, and is refused with it", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-stores-")));
  mkdirSync(join(base, "project"));
  const { log } = createSlowLog();
  const failing: AuditLog = { ...log, append: () => Promise.reject(new Error("the store is away")) };
  const octant = createOctant({
    roots: [join(base, "project")],
    env: { HOME: base, XDG_STATE_HOME: join(base, "state") },
    stores: { audit: failing },
    onBug: () => {},
  });
  try {
    const caller = { id: "local", access: "admin" } as const;
    const call = { tool: "fs", action: "write", input: { uri: "a.txt", content: "x" } };
    const { envelope } = await octant.dispatch(call, { caller });
    expect(envelope.ok).toBe(false);
    expect(globSync(`${base}/project/*`)).toEqual([]);
  } finally {
    await octant.close();
    rmSync(base, { recursive: true, force: true });
  }
});
