import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { newHandle, ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import type { KeptObjects } from "@octant/wire";
import { HOSTED_PLACE } from "../peers/peers.ts";
import type { Project } from "../projects/project.ts";
import type { HubRecord, HubStore } from "../store/hub-store.ts";
import type { RunGit } from "../workspaces/git-repository.ts";
import type { Repositories } from "../workspaces/repositories.ts";

/**
 * A project's repository outside of any hub's folder: its git packs are in the object store, and this record has their
 * names and the commits of its refs. Only the hub that has the project can change the record.
 */
export interface KeptRepository extends HubRecord {
  readonly head: string;
  readonly refs: Readonly<Record<string, string>>;
  /** The first pack has everything that these commits reach. */
  readonly base: { readonly pack: string; readonly tips: readonly string[] };
  /** Packs added later, oldest first. */
  readonly packs: readonly string[];
  /** The packs that were merged into one: a backup of the database may be older than one of the object store. */
  readonly replaced: readonly string[];
}

export interface KeptRepositoriesOptions {
  readonly store: HubStore;
  readonly objects: KeptObjects;
  readonly repositories: Repositories;
  /** For packs that are being uploaded. */
  readonly folder: string;
  log(line: string): void;
}

/** More packs than this are merged into one. */
const MAX_PACKS = 32;
/** Lists the packs that the repository in this hub's folder has. */
const KNOWN_PACKS = "octant-packs.json";
/** The stored refs: branches, and the hub's refs of workspaces. Refs of the source are fetched again. */
const KEPT_REFS = ["refs/heads", "refs/octant"];

/** Stores the repositories of projects where every hub can get them, so that they outlive the folder of one hub. */
export function createKeptRepositories(options: KeptRepositoriesOptions) {
  const { store, objects, repositories, folder, log } = options;
  const records = store.records<KeptRepository>("repository");
  /** The save in progress, and one more for all changes that come meanwhile. */
  const saving = new Map<string, { readonly now: Promise<void>; next?: Promise<void> | undefined }>();

  const removeObjects = async (names: readonly string[]): Promise<void> => {
    for (const name of names)
      await objects.remove(name).catch((cause: unknown) => log(`hub: ${name} cannot be removed: ${cause}`));
  };
  /** Uploads a pack of the objects that `tips` reach and `known` do not; undefined when there are none. */
  const putPack = async (project_id: string, tips: readonly string[], known: readonly string[]) => {
    const handle = newHandle("pack", Date.now());
    const base = join(folder, handle);
    const input = `${[...tips, ...known.map((one) => `^${one}`)].join("\n")}\n`;
    const git = repositories.gitOf(project_id);
    try {
      const { stdout } = await git(["pack-objects", "--revs", "--quiet", "--non-empty", base], { input });
      const hash = stdout.trim();
      if (hash === "") return undefined;
      const name = `${project_id}/${handle}`;
      await objects.put(name, `${base}-${hash}.pack`);
      return name;
    } finally {
      for (const name of readdirSync(folder))
        if (name.startsWith(handle)) rmSync(join(folder, name), { force: true });
    }
  };
  const save = async (project_id: string): Promise<void> => {
    const git = repositories.gitOf(project_id);
    const refs = await readRefs(git);
    const kept = await records.get(project_id);
    if (kept && isSame(kept.refs, refs)) return;
    const tips = [...new Set(Object.values(refs))];
    const isFull = kept !== undefined && kept.packs.length >= MAX_PACKS;
    const known = kept ? (isFull ? kept.base.tips : [...new Set(Object.values(kept.refs))]) : [];
    const pack = await putPack(project_id, tips, known);
    const head = (await git(["symbolic-ref", "HEAD"])).stdout.trim();
    try {
      if (kept) {
        const packs = [...(isFull ? [] : kept.packs), ...(pack === undefined ? [] : [pack])];
        const replaced = isFull ? kept.packs : kept.replaced;
        await records.change(project_id, (one) => ({ ...one, head, refs, packs, replaced }));
      } else if (pack !== undefined) {
        const created_at = new Date().toISOString();
        const base = { pack, tips };
        await records.add({
          id: project_id,
          project_id,
          created_at,
          head,
          refs,
          base,
          packs: [],
          replaced: [],
        });
      }
    } catch (cause) {
      if (pack !== undefined) await removeObjects([pack]);
      throw cause;
    }
    if (pack !== undefined) know(project_id, [pack]);
    if (isFull) await removeObjects(kept.replaced);
  };
  /** Resolves when the current state of all refs is stored; callers that ask meanwhile share one save. */
  const keep = (project_id: string): Promise<void> => {
    const running = saving.get(project_id);
    if (running) {
      const again = () => keep(project_id);
      running.next ??= running.now.then(again, again);
      return running.next;
    }
    const now = save(project_id).finally(() => saving.delete(project_id));
    saving.set(project_id, { now });
    return now;
  };
  const markOf = (project_id: string) => join(repositories.placeOf(project_id), KNOWN_PACKS);
  const knownOf = (project_id: string): readonly string[] =>
    existsSync(markOf(project_id)) ? JSON.parse(readFileSync(markOf(project_id), "utf8")) : [];
  const know = (project_id: string, packs: readonly string[]): void =>
    replaceFile(markOf(project_id), JSON.stringify([...knownOf(project_id), ...packs]), { mode: 0o600 });

  const fetchPack = async (project_id: string, name: string): Promise<void> => {
    const objectsFolder = join(repositories.placeOf(project_id), "objects", "pack");
    // git ignores a pack without an index.
    const file = join(objectsFolder, `pack-${basename(name)}.pack`);
    mkdirSync(dirname(file), { recursive: true });
    await objects.get(name, file);
    await repositories.gitOf(project_id)(["index-pack", file]);
    know(project_id, [name]);
  };
  /** Creates the repository in this hub's folder as it was last stored. */
  const restore = async (project: Project): Promise<void> => {
    const { id, name } = project;
    const kept = await records.get(id);
    if (!kept)
      throw new ToolError("UPSTREAM_ERROR", `the repository of project ${name} is not in the database`, {});
    await repositories.create(project);
    const known = new Set(knownOf(id));
    for (const pack of [kept.base.pack, ...kept.packs]) if (!known.has(pack)) await fetchPack(id, pack);
    const git = repositories.gitOf(id);
    const gone = Object.keys(await readRefs(git)).filter((ref) => kept.refs[ref] === undefined);
    const lines = [
      ...gone.map((ref) => `delete ${ref}`),
      ...Object.entries(kept.refs).map(([ref, commit]) => `update ${ref} ${commit}`),
    ];
    await git(["update-ref", "--stdin"], { input: `${lines.join("\n")}\n` });
    await git(["symbolic-ref", "HEAD", kept.head]);
  };
  return {
    keep,
    /**
     * Prepares the repository of a project that this hub now has; a repository that is only in this folder is stored.
     */
    async reach(project: Project): Promise<void> {
      if (project.place === HOSTED_PLACE) return restore(project);
      await keep(project.id);
      await store
        .records<Project>("project")
        .change(project.id, (stored) => ({ ...stored, place: HOSTED_PLACE }));
    },
    async remove(project_id: string): Promise<void> {
      const kept = await records.get(project_id);
      if (!kept) return;
      await records.remove(project_id);
      await removeObjects([kept.base.pack, ...kept.packs, ...kept.replaced]);
    },
  };
}

async function readRefs(git: RunGit): Promise<Record<string, string>> {
  const { stdout } = await git(["for-each-ref", "--format=%(refname) %(objectname)", ...KEPT_REFS]);
  const lines = stdout.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
  );
}

const isSame = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>) =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([ref, commit]) => other[ref] === commit);
