import { type Context, counted, ToolError } from "@octant/core";
import {
  EDIT_MS,
  editPlaces,
  type LanguageClient,
  type Path,
  pathToUri,
  proposedEdits,
  type SourcePlace,
  type Spot,
} from "@octant/host";
import { toHidden } from "../searched.ts";
import type { Code } from "./code.ts";
import { type CrossCheck, crossCheck, filesOf } from "./cross-check.ts";
import { localScopeOf, type NamedUses, usesByName } from "./names.ts";
import { openUses } from "./open-uses.ts";
import { lineAt } from "./words.ts";

type Proposed = Parameters<typeof proposedEdits>[1];

export interface Proposal {
  readonly proposed: Proposed;
  readonly note: string | undefined;
  /** The files that use the name, changed or not. */
  readonly files: readonly Path[];
}

interface Renaming {
  readonly spot: Spot;
  readonly new_name: string;
  /** The server's edit counts, whatever uses there are by name. */
  readonly isServerTrusted: boolean;
}

/** Uses by name that the server is asked about. */
const MAX_ASKED = 500;

/**
 * Returns the server's edit after opening the files that may use the symbol, and completes it where it would keep the
 * old name in a re-export. UPSTREAM_ERROR when it would leave uses by this name as they are.
 */
export async function proposeForAll(
  code: Code,
  client: LanguageClient,
  { spot, new_name, isServerTrusted }: Renaming,
  propose: () => Promise<Proposed>,
  ctx: Context,
): Promise<Proposal> {
  const { signal } = ctx;
  const definitions = (await client.definition(spot, signal, EDIT_MS)) ?? [];
  const within = await localScopeOf(code, definitions);
  const lacking = within ? undefined : client.lacks(spot.path);
  if (lacking !== undefined && !isServerTrusted) throw differs(lacking, NOTHING_COMPARED);
  const named = await usesByName(code, spot, {
    signal,
    isHidden: toHidden(ctx),
    within,
    covers: client.covers,
  });
  await openUses(code, client, spot, filesOf(named.uses), signal);
  const look = async () => {
    const proposed = await propose();
    const listed = proposedEdits(code.workspace.confinement, proposed);
    const compared = {
      spot,
      definitions,
      listed,
      uses: named.uses,
      maxAsked: MAX_ASKED,
      patienceMs: EDIT_MS,
    };
    return { proposed, listed, check: await crossCheck(code, client, compared, signal) };
  };
  const first = await look();
  // The files of these are open by now, so the server may know more.
  const { proposed, listed, check } = first.check.same.length > 0 ? await look() : first;
  const { name = "" } = named;
  const files = filesOf([...listed, ...named.uses]);
  const difference = describe(client.name, name, listed.length, check, named);
  if (isServerTrusted) return { proposed, files, note: difference };
  const isReExport = ({ newText }: { readonly newText: string }) => newText === `${new_name} as ${name}`;
  const isComplete = check.unknown.length + check.unasked + named.unread.length === 0;
  const isPlain = (edit: (typeof listed)[number]) => edit.newText === new_name || isReExport(edit);
  const canFollow = listed.every(isPlain) && !check.same.some((use) => isShorthand(code, use));
  if (isComplete && listed.some(isReExport) && canFollow)
    return {
      proposed: editPlaces([...listed, ...check.same], new_name),
      files,
      note: `${list(filesOf(listed.filter(isReExport)))} exports the new name, so importers outside the workspace have to follow`,
    };
  // An object literal keeps the old name of its property: `{ a: b }`.
  const kept = filesOf(listed.filter(({ newText }) => newText !== new_name));
  if (!isComplete || (check.same.length > 0 && kept.length === 0)) throw differs(difference ?? "", check);
  if (check.same.length === 0) return { proposed, files, note: undefined };
  const users = `${counted(check.same.length, "use")} in ${list(filesOf(check.same))}`;
  return { proposed, files, note: `${list(kept)} still has the name ${name}, so ${users} keep it` };
}

/** `{ a }`: one word for the name of a property and for its value. */
function isShorthand({ sources }: Code, { path, range: { start, end } }: SourcePlace): boolean {
  const line = lineAt(sources.readIfThere(path)?.text ?? "", start.line);
  const isAlone = /[{,]\s*$/.test(line.slice(0, start.col)) && /^\s*[,}]/.test(line.slice(end.col));
  return isAlone && !/^\s*(?:import|export)\b/.test(line);
}

/** How the uses that would be renamed differ from those by name; undefined when they agree. */
function describe(
  server: string,
  name: string,
  renamed: number,
  { same, unknown, unasked }: CrossCheck,
  { unread }: NamedUses,
): string | undefined {
  const parts = [
    same.length > 0 && `leaves ${counted(same.length, "use")} as ${name}: ${listPlaces(same)}`,
    unknown.length > 0 &&
      `does not know ${counted(unknown.length, "more use")} of the name: ${listPlaces(unknown)}`,
    unasked > 0 && `was not asked about ${counted(unasked, "more use")} of the name`,
    unread.length > 0 && `may miss uses in files that are too large or not text: ${list(unread)}`,
  ].filter((part) => typeof part === "string");
  return parts.length === 0
    ? undefined
    : `${server} renames ${counted(renamed, "place")}, but ${parts.join(", and ")}`;
}

const differs = (difference: string, { same, unknown }: CrossCheck) =>
  new ToolError(
    "CONFIRM_REQUIRED",
    `nothing was renamed: ${difference}. Pass by "name" to rename every use of the name in code, by "server" to rename only those that the server knows, or edit by fs.apply_patch`,
    { would: { leave: places(same), not_know: places(unknown) } },
  );

const NOTHING_COMPARED = { same: [], unknown: [], other: 0, unasked: 0 };
const MAX_PLACES = 50;

const places = (uses: readonly SourcePlace[]) =>
  uses.slice(0, MAX_PLACES).map(({ path, range }) => ({ uri: pathToUri(path), range }));

const MAX_SHOWN = 5;

const list = (paths: readonly Path[]): string => shorten(paths.map(pathToUri));
const listPlaces = (places: readonly SourcePlace[]): string =>
  shorten(places.map(({ path, range }) => `${pathToUri(path)}:${range.start.line + 1}`));

function shorten(all: readonly string[]): string {
  const more = all.length - MAX_SHOWN;
  const shown = all.slice(0, MAX_SHOWN).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}
