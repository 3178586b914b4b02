import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { z } from "zod";
import { lockFolder } from "../operations/folder-lock.ts";
import { hubFileOf } from "../store/open-hub-store.ts";

/** Names the folder, and the database whose projects it has. */
const Place = z.object({ place: z.string(), database_id: z.string() });

/** How long hubs that start together wait for each other. */
const LOCK_MS = 10_000;

const fileOf = (folder: string): string => join(folder, "place.json");

/**
 * The name of a folder that hubs of one database share; a new folder gets one. A folder of another database, or of a hub
 * without one, is refused: its projects are not in this database.
 */
export async function openPlace(folder: string, database_id: string): Promise<string> {
  await using _lock = await lockFolder(folder, LOCK_MS);
  if (existsSync(hubFileOf(folder)))
    throw locked(
      `${folder} has the state of a hub without --database; choose another folder, or restore a backup of it`,
    );
  const file = fileOf(folder);
  if (!existsSync(file))
    replaceFile(file, JSON.stringify({ place: randomUUID(), database_id }), { mode: 0o600 });
  const known = Place.parse(JSON.parse(readFileSync(file, "utf8")));
  if (known.database_id === database_id) return known.place;
  throw locked(`${folder} belongs to hubs of another database; choose another folder (--folder)`);
}

/** The folder is empty again. */
export const removePlace = (folder: string): void => rmSync(fileOf(folder), { force: true });

/** For a hub whose state is a file of the folder: it must not use the folder of others. */
export function refuseShared(folder: string): void {
  if (existsSync(fileOf(folder)))
    throw locked(
      `${folder} belongs to hubs of a database; give --database, or choose another folder (--folder)`,
    );
}

const locked = (message: string) => new ToolError("LOCKED", message, {});
