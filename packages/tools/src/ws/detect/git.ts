import { findRepository, type Path, pathToUri, readSmallFile } from "@octant/host";
import type { z } from "zod";
import { whenReadable } from "../project-files.ts";
import type { Detected } from "./answer.ts";

/** Finds the repository as vcs does, from plain files: an untrusted repository must not run anything. */
export function findGit(roots: readonly Path[], start: Path): z.input<typeof Detected>["vcs"] {
  const places = whenReadable(() => findRepository({ roots }, start));
  if (!places) return null;
  const { top, folder, gitDir } = places;
  const head = readSmallFile(`${gitDir}/HEAD`).trim();
  return {
    kind: "git",
    uri: pathToUri(folder),
    branch: /^ref: refs\/heads\/(\S{1,500})$/.exec(head)?.[1] ?? null,
    commit: /^[0-9a-f]{40}([0-9a-f]{24})?$/.exec(head)?.[0],
    linked: gitDir !== `${top}/.git`,
  };
}
