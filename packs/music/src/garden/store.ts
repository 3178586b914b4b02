import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { newHandle, ToolError } from "@octant/core";
import { readWav } from "../audio/wav.ts";
import { Region } from "./schemas.ts";

export type RegionStore = ReturnType<typeof openRegions>;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS regions (
    region_id TEXT PRIMARY KEY, name TEXT NOT NULL, beat REAL NOT NULL, seconds REAL NOT NULL, gain REAL NOT NULL,
    sound TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS tempo (one INTEGER PRIMARY KEY CHECK (one = 1), bpm REAL NOT NULL) STRICT;
`;

/** Regions on the disk: an answered change is there whenever the process is killed, and an unanswered one is whole. */
export function openRegions(folder: string) {
  const sounds = join(folder, "sounds");
  mkdirSync(sounds, { recursive: true, mode: 0o700 });
  const db = new DatabaseSync(join(folder, "regions.sqlite"));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  db.exec(SCHEMA);
  const pathOf = (hash: string) => join(sounds, `${hash.slice("sha256:".length)}.wav`);

  const all = (): Region[] =>
    db
      .prepare("SELECT * FROM regions ORDER BY beat, region_id")
      .all()
      .map((row) => Region.parse(row));
  const isUsed = (hash: string) =>
    db.prepare("SELECT 1 FROM regions WHERE sound = ? LIMIT 1").get(hash) !== undefined;
  const orMissing = (changes: number | bigint, region_id: string) => {
    if (Number(changes) > 0) return;
    const message = `there is no region ${region_id}; garden.get_regions lists them`;
    throw new ToolError("NOT_FOUND", message, { id: region_id });
  };
  removeUnused();

  /** Removes unfinished files of a killed process. */
  function removeUnused(): void {
    const used = new Set(all().map(({ sound }) => pathOf(sound)));
    for (const name of readdirSync(sounds)) if (!used.has(join(sounds, name))) rmSync(join(sounds, name));
  }

  return {
    all,
    soundOf: ({ sound }: Region) => readWav(readFileSync(pathOf(sound))),
    add({
      bytes,
      ...fields
    }: Pick<Region, "name" | "beat" | "gain"> & { readonly bytes: Uint8Array }): Region {
      const { rate, channels } = readWav(bytes);
      const sound = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
      // The sound is on the disk before a region names it.
      if (!isUsed(sound)) writeDurably(pathOf(sound), bytes, sounds);
      const seconds = (channels[0]?.length ?? 0) / rate;
      const region = { region_id: newHandle("region", Date.now()), ...fields, seconds, sound };
      db.prepare(
        "INSERT INTO regions (region_id, name, beat, gain, seconds, sound) VALUES (:region_id, :name, :beat, :gain, :seconds, :sound)",
      ).run(region);
      return region;
    },
    move(region_id: string, beat: number): Region {
      orMissing(
        db.prepare("UPDATE regions SET beat = ? WHERE region_id = ?").run(beat, region_id).changes,
        region_id,
      );
      return Region.parse(db.prepare("SELECT * FROM regions WHERE region_id = ?").get(region_id));
    },
    remove(region_id: string): void {
      const row = db.prepare("DELETE FROM regions WHERE region_id = ? RETURNING sound").get(region_id);
      orMissing(row ? 1 : 0, region_id);
      const sound = String(row?.["sound"]);
      if (!isUsed(sound)) rmSync(pathOf(sound), { force: true });
    },
    bpm: (): number | undefined => {
      const row = db.prepare("SELECT bpm FROM tempo").get();
      return row && Number(row["bpm"]);
    },
    setBpm(bpm: number): void {
      db.prepare("INSERT INTO tempo VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET bpm = excluded.bpm").run(
        bpm,
      );
    },
    close: () => db.close(),
  };
}

/** Complete under its name, or not there at all. */
function writeDurably(path: string, bytes: Uint8Array, folder: string): void {
  const draft = `${path}.draft`;
  const fd = openSync(draft, "w", 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, path);
  const folderFd = openSync(folder, "r");
  try {
    fsyncSync(folderFd);
  } finally {
    closeSync(folderFd);
  }
}

/** The regions that sound at some time from beat `start` up to, and without, beat `end`. */
export const regionsBetween = (
  regions: readonly Region[],
  start: number,
  end: number,
  bpm: number,
): Region[] => regions.filter(({ beat, seconds }) => beat < end && beat + (seconds * bpm) / 60 > start);
