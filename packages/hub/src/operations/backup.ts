import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { attempt, counted, createLineSplitter, refuseNewer, ToolError } from "@octant/core";
import { createLock, findTrusted, runTrusted } from "@octant/host";
import { z } from "zod";
import { openPlace, removePlace } from "../peers/place.ts";
import type { Project } from "../projects/project.ts";
import { DumpRow, type HubStore } from "../store/hub-store.ts";
import { hubFileOf, openHubStore } from "../store/open-hub-store.ts";
import { createRunGit } from "../workspaces/git-repository.ts";
import { connectToSource } from "../workspaces/repositories.ts";
import type { Workspace } from "../workspaces/workspaces.ts";
import { lockFolder } from "./folder-lock.ts";

const FORMAT = 1;
const ROWS = "hub.jsonl";
const MANIFEST = "manifest.json";
const TAR_MS = 3_600_000;
/** tar ends with this when a file changed while it was read, which is normal in a running hub. */
const TAR_CHANGED = 1;

const Manifest = z.object({
  format: z.int(),
  created_at: z.string(),
  rows: z.int(),
  sha256: z.string(),
  projects: z.array(z.string()).readonly(),
  workspaces: z.array(z.object({ id: z.string(), project_id: z.string() })).readonly(),
});
export type BackupManifest = z.output<typeof Manifest>;

export interface BackupOptions {
  readonly folder: string;
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  /** As of the hub. */
  readonly database?: string | undefined;
}

/**
 * Writes everything of a hub to one file, also while the hub runs: its records and events in one consistent state, its
 * repositories as git bundles, and the workspaces as they are.
 */
export async function backUpHub(options: BackupOptions): Promise<BackupManifest> {
  const { folder, file, database } = options;
  if (!existsSync(database === undefined ? hubFileOf(folder) : folder))
    throw notFound(`${folder} has no hub`);
  if (existsSync(file)) throw new ToolError("ALREADY_EXISTS", `${file} exists already`, { uri: file });
  const lock = createLock(join(folder, "backup.db"), { place: folder, giveUpMs: 0 });
  try {
    return await lock.hold(async () => {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
        const manifest = await write(options);
        if (manifest) return manifest;
      }
      const message =
        "workspaces are deleted all the time; make the backup when fewer sessions are cleaned up";
      throw new ToolError("OVERLOADED", message, { retry_after_ms: RETRY_MS });
    });
  } catch (cause) {
    if (!(cause instanceof ToolError && cause.code === "LOCKED")) throw cause;
    const message = `another backup of ${folder} is being written; wait for its end`;
    throw new ToolError("LOCKED", message, {}, { cause });
  } finally {
    await lock.close();
  }
}

/** Only one process at a time does this in a folder. undefined when a workspace was deleted meanwhile. */
async function write({ folder, file, env, database }: BackupOptions): Promise<BackupManifest | undefined> {
  const target = resolve(file);
  // A backup that was killed left these, with the secrets of projects.
  for (const name of readdirSync(folder))
    if (name.startsWith(UNWRITTEN)) rmSync(join(folder, name), { recursive: true, force: true });
  rmSync(`${target}.part`, { force: true });
  const store = await openHubStore({ folder, database, log() {} });
  const place = mkdtempSync(join(folder, UNWRITTEN));
  try {
    const written = await writeRows(store, place);
    const isThere = ({ id, project_id }: BackupManifest["workspaces"][number]) =>
      existsSync(join(folder, "projects", project_id, "workspaces", id));
    // A hub forgets a workspace without files when it starts.
    const manifest = { ...written, workspaces: written.workspaces.filter(isThere) };
    const git = createRunGit(env);
    const away = manifest.projects.filter((id) => !existsSync(join(folder, "projects", id)));
    if (away.length > 0) throw elsewhere(away.length);
    for (const id of manifest.projects)
      await git(join(folder, "projects", id, "repository.git"))([
        "bundle",
        "create",
        "--quiet",
        join(place, `${id}.bundle`),
        "--all",
      ]);
    await writeFile(join(place, MANIFEST), `${JSON.stringify(manifest)}\n`);
    const present = manifest.projects.filter((id) => existsSync(join(folder, "projects", id, "workspaces")));
    // It has the secrets of projects.
    await writeFile(`${target}.part`, "", { mode: 0o600, flag: "wx" });
    const problem = await tar(env, [
      ...["--create", "--gzip", "--file", `${target}.part`, "-C", place, "."],
      ...(present.length > 0 ? ["-C", folder, ...present.map((id) => `projects/${id}/workspaces`)] : []),
    ]);
    if (problem !== undefined) throw new ToolError("IO_ERROR", `the backup was not written: ${problem}`, {});
    if (!manifest.workspaces.every(isThere)) return undefined;
    renameSync(`${target}.part`, target);
    return manifest;
  } finally {
    await store.close();
    rmSync(place, { recursive: true, force: true });
    rmSync(`${target}.part`, { force: true });
  }
}

/** Fills an empty folder with a backup, and checks that all of it is there. */
export async function restoreHub({ folder, file, env, database }: BackupOptions): Promise<BackupManifest> {
  if (!existsSync(file)) throw notFound(`${file} does not exist`);
  refuseUsed(folder, database);
  const isNew = !existsSync(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const place = mkdtempSync(join(folder, UNPACKED));
  try {
    // Before anything else is written, so that a damaged backup leaves nothing behind.
    const manifest = await unpack(place, { file, env });
    await moveIn(place, { folder, database });
    return manifest;
  } finally {
    rmSync(place, { recursive: true, force: true });
    // Still empty when the backup was refused.
    if (isNew) attempt(() => rmdirSync(folder));
  }
}

const MAX_ATTEMPTS = 5;
const RETRY_MS = 60_000;
const UNWRITTEN = "backup-";
const UNPACKED = "restore-";
/** Left by a restore that was killed before it put the records there. */
const OF_RESTORE = /^(?:lock\.db.*|restore-.*|projects)$/;

/** Everything else in the folder stays as it is, so it must be empty; only a killed restore may be repeated. */
function refuseUsed(folder: string, database: string | undefined): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const refused = (why: string) =>
    new ToolError("ALREADY_EXISTS", `${folder} ${why}; restore into an empty folder: --folder DIR`, {
      uri: folder,
    });
  if (existsSync(hubFileOf(folder)) || (database !== undefined && names.includes("projects")))
    throw refused("has a hub already");
  const isRepeated = names.includes("lock.db") && names.every((name) => OF_RESTORE.test(name));
  if (names.length > 0 && !isRepeated) throw refused("has other files");
}

/** Unpacks a backup beside its final place, and checks that it is whole. */
async function unpack(
  place: string,
  { file, env }: Pick<BackupOptions, "file" | "env">,
): Promise<BackupManifest> {
  const problem = await tar(env, [
    ...["--extract", "--gzip", "--no-same-owner", "--file", resolve(file), "-C", place],
  ]);
  if (problem !== undefined) throw damaged(problem);
  const manifest = await readManifest(place);
  await checkRows(place, manifest);
  await restoreProjects(place, manifest, env);
  return manifest;
}

async function moveIn(
  place: string,
  { folder, database }: Pick<BackupOptions, "folder" | "database">,
): Promise<void> {
  const database_id = database === undefined ? undefined : await readDatabaseId(folder, database);
  const newPlace = database_id === undefined ? undefined : await openPlace(folder, database_id);
  await using _lock = await lockFolder(folder);
  // A hub may have started there meanwhile.
  if (existsSync(hubFileOf(folder)))
    throw new ToolError("ALREADY_EXISTS", `${folder} has a hub already`, { uri: folder });
  for (const name of readdirSync(folder))
    if (name.startsWith(UNPACKED) && name !== basename(place))
      rmSync(join(folder, name), { recursive: true, force: true });
  const store = await openHubStore({ folder: place, database, log() {} });
  try {
    const rows = movedTo(newPlace, readRows(place));
    if (database === undefined) await store.load(rows);
    const projects = join(folder, "projects");
    rmSync(projects, { recursive: true, force: true });
    renameSync(join(place, "projects"), projects);
    // The rows come last: until they are there, the restore can be repeated.
    if (database !== undefined) await loadOrUndo(store, rows, folder);
  } finally {
    await store.close();
  }
  if (database === undefined) renameSync(hubFileOf(place), hubFileOf(folder));
}

async function readDatabaseId(folder: string, database: string): Promise<string | undefined> {
  const store = await openHubStore({ folder, database, log() {} });
  await store.close();
  return store.peers?.database_id;
}

/** The projects are in the folder that is restored into. */
async function* movedTo(place: string | undefined, rows: AsyncIterable<DumpRow>): AsyncGenerator<DumpRow> {
  for await (const row of rows)
    yield "record" in row && row.kind === "project"
      ? { ...row, record: { ...row.record, ...{ place } } }
      : row;
}

async function loadOrUndo(store: HubStore, rows: AsyncIterable<DumpRow>, folder: string): Promise<void> {
  try {
    await store.load(rows);
  } catch (cause) {
    rmSync(join(folder, "projects"), { recursive: true, force: true });
    removePlace(folder);
    throw cause;
  }
}

async function writeRows(store: HubStore, place: string): Promise<BackupManifest> {
  const sum = createHash("sha256");
  const projects: Project[] = [];
  const workspaces: Workspace[] = [];
  const left = new Set((await store.records<Project>("project").list()).filter(isHalf).map(({ id }) => id));
  /** What belongs to a project whose repository is not whole. */
  const isPartial = ({ kind, record }: Extract<DumpRow, { kind: unknown }>): boolean =>
    // The kind says what the record is.
    kind === "project" ? isHalf(record as Project) : left.has(record.project_id ?? "");
  let rows = 0;
  const lines = async function* () {
    for await (const row of store.dump()) {
      if ("record" in row && isPartial(row)) continue;
      // The kind says what the record is.
      if ("record" in row && row.kind === "project") projects.push(row.record as Project);
      if ("record" in row && row.kind === "workspace") workspaces.push(row.record as Workspace);
      const line = `${JSON.stringify(row)}\n`;
      sum.update(line);
      rows += 1;
      yield line;
    }
  };
  await pipeline(lines, createWriteStream(join(place, ROWS), { mode: 0o600 }));
  return {
    format: FORMAT,
    created_at: new Date().toISOString(),
    rows,
    sha256: sum.digest("hex"),
    projects: projects.map(({ id }) => id),
    workspaces: workspaces.map(({ id, project_id }) => ({ id, project_id })),
  };
}

const isHalf = ({ partial }: Project): boolean => partial === "new" || partial === "deleted";

async function readManifest(place: string): Promise<BackupManifest> {
  const text = await readFile(join(place, MANIFEST), "utf8").catch(() => "{}");
  const parsed = Manifest.safeParse(attempt(() => JSON.parse(text)));
  if (!parsed.success) throw damaged("it is not a backup of a hub");
  refuseNewer(parsed.data.format, FORMAT, "the backup");
  return parsed.data;
}

async function checkRows(place: string, { sha256 }: BackupManifest): Promise<void> {
  if (!existsSync(join(place, ROWS))) throw damaged("its records are missing");
  const sum = createHash("sha256");
  for await (const chunk of createReadStream(join(place, ROWS))) sum.update(chunk);
  if (sum.digest("hex") !== sha256) throw damaged("its records are not those that were written");
}

async function* readRows(place: string): AsyncGenerator<DumpRow> {
  const lines: string[] = [];
  const split = createLineSplitter({ onLine: (line) => lines.push(line) }, Number.POSITIVE_INFINITY);
  for await (const chunk of createReadStream(join(place, ROWS))) {
    split(chunk);
    for (const line of lines.splice(0)) yield DumpRow.parse(JSON.parse(line));
  }
}

async function restoreProjects(
  place: string,
  manifest: BackupManifest,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const git = createRunGit(env);
  mkdirSync(join(place, "projects"), { recursive: true, mode: 0o700 });
  for await (const row of readRows(place)) {
    if (!("record" in row) || row.kind !== "project") continue;
    // The kind says what the record is.
    const { id, source } = row.record as Project;
    if (basename(id) !== id) throw damaged(`'${id}' is not the id of a project`);
    const bundle = join(place, `${id}.bundle`);
    if (!existsSync(bundle)) throw damaged(`the repository of the project ${id} is missing`);
    const repository = join(place, "projects", id, "repository.git");
    mkdirSync(dirname(repository), { recursive: true, mode: 0o700 });
    await git(undefined)(["clone", "--mirror", "--quiet", "--", bundle, repository]);
    await git(repository)(["config", "--remove-section", "remote.origin"]);
    if (!("empty" in source)) await connectToSource(git(repository), source);
  }
  for (const { id, project_id } of manifest.workspaces)
    if (!existsSync(join(place, "projects", project_id, "workspaces", id)))
      throw damaged(`the workspace ${id} is missing`);
}

/** The error on one line; undefined when there was none. */
async function tar(env: NodeJS.ProcessEnv, args: readonly string[]): Promise<string | undefined> {
  const program = findTrusted("tar");
  if (!program)
    throw new ToolError("UNSUPPORTED", "tar is not installed", { what: "backups", how: "install tar" });
  const { code, stderr } = await runTrusted(program, args, { env: { PATH: env.PATH }, timeoutMs: TAR_MS });
  if (code === 0 || code === TAR_CHANGED) return undefined;
  const said = stderr.split("\n").map((line) => line.trim());
  return said.filter(Boolean).join("; ") || `tar ended with ${code ?? "a signal"}`;
}

const elsewhere = (count: number) =>
  new ToolError("UNSUPPORTED", `${counted(count, "project")} of the database are in folders of other hubs`, {
    what: "a backup of several folders",
    how: "save the database with pg_dump, and the folder of each hub with the tools of its machine",
  });
const notFound = (message: string) => new ToolError("NOT_FOUND", message, {});
const damaged = (why: string) =>
  new ToolError("INVALID_ARGUMENT", `the backup cannot be restored: ${why}`, { issues: [] });
