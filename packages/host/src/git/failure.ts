import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { isWithin, type Path } from "../path.ts";

const MAX_MESSAGE_CHARS = 2_000;

/** Git's error text without hints, credentials and paths outside the workspace. */
export function vcsError(
  { roots }: Pick<Confinement, "roots">,
  exit_code: number | null,
  stderr: string,
): ToolError {
  const said = stderr
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^(hint|warning): /.test(line))
    .map((line) => line.replace(/^(fatal|error): /, ""))
    .join("\n")
    .trim();
  const text = withoutPlaces(withoutCredentials(said), roots);
  const message =
    text === "" ? endedHow(exit_code) : `git: ${text.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}`;
  return new ToolError("VCS_ERROR", message, { exit_code });
}

const endedHow = (code: number | null) =>
  code === null ? "git was killed or crashed; try again" : `git exited with ${code} and printed no error`;

const withoutCredentials = (text: string) => text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]*@/gi, "$1");

/** An absolute path that is in no root becomes "…". */
const withoutPlaces = (text: string, roots: readonly Path[]) =>
  text.replace(/(^|[\s'"(=:])(\/(?!\/)[^\s'")]+)/g, (whole, before: string, path: string) =>
    roots.some((root) => isWithin(root, path.replace(/[:,.]+$/, ""))) ? whole : `${before}…`,
  );
