import { type Path, ServerRefused, ServerUnavailable, type SourcePlace, type Spot } from "@octant/host";
import type { CodeBackend } from "./backend.ts";
import type { Code } from "./code.ts";
import type { NamedUse } from "./names.ts";
import { compare, holds } from "./sources.ts";

/** How the uses by name that a server has not listed relate to the symbol, by the server's own definitions of them. */
export interface CrossCheck {
  /** The server leads from here to the symbol, although it did not list the place. */
  readonly same: readonly NamedUse[];
  /** The server does not know the symbol at this place. */
  readonly unknown: readonly NamedUse[];
  /** How many are uses of other symbols. */
  readonly other: number;
  /** How many were not compared, because there are too many or the server stopped answering. */
  readonly unasked: number;
}

const AGREED: CrossCheck = { same: [], unknown: [], other: 0, unasked: 0 };
const CONCURRENCY = 8;

export interface ToCompare {
  readonly spot: Spot;
  /** Where the server says that the symbol is defined. */
  readonly definitions: readonly SourcePlace[];
  /** The server's answer. */
  readonly listed: readonly SourcePlace[];
  readonly uses: readonly NamedUse[];
  readonly maxAsked: number;
  /** How long one question may take. */
  readonly patienceMs?: number;
}

/** Compares a server's list with the uses by name: each one missing in the list is asked for its definition. */
export async function crossCheck(
  code: Code,
  { definition: define }: Pick<CodeBackend, "definition">,
  { spot, definitions, listed, uses, maxAsked, patienceMs }: ToCompare,
  signal: AbortSignal,
): Promise<CrossCheck> {
  const missing = uses.filter((use) => !isAmong(listed, use));
  if (missing.length === 0 || !define) return { ...AGREED, unasked: missing.length };
  const name = code.sources.nameAt(spot);
  const isOnDefinition = (place: SourcePlace) =>
    definitions.some(
      ({ path, range }) => path === place.path && range.start.line === place.range.start.line,
    ) && code.sources.nameAt({ path: place.path, position: place.range.start }) === name;
  const judge = (use: NamedUse, found: readonly SourcePlace[]): keyof CrossCheck => {
    if (found.length === 0) return "unknown";
    if (isAmong(found, use)) return "other";
    const isSpot = ({ path, range }: SourcePlace) => path === spot.path && holds(range, spot.position);
    const isSame = (place: SourcePlace) =>
      isSpot(place) || isAmong(listed, place) || isAmong(definitions, place) || isOnDefinition(place);
    return found.some(isSame) ? "same" : "other";
  };
  const judged: { readonly use: NamedUse; readonly verdict: keyof CrossCheck }[] = [];
  for (let at = 0; at < Math.min(missing.length, maxAsked); at += CONCURRENCY) {
    const batch = missing.slice(at, Math.min(at + CONCURRENCY, maxAsked));
    const verdicts = await Promise.all(
      batch.map(async (use) => {
        const found = await askOrGiveUp(() =>
          define({ path: use.path, position: use.range.start }, signal, patienceMs),
        );
        return found && { use, verdict: judge(use, found) };
      }),
    );
    judged.push(...verdicts.filter((one) => one !== undefined));
    signal.throwIfAborted();
    if (verdicts.includes(undefined)) break;
  }
  const of = (wanted: keyof CrossCheck) =>
    judged.filter(({ verdict }) => verdict === wanted).map(({ use }) => use);
  return {
    same: of("same"),
    unknown: of("unknown"),
    other: of("other").length,
    unasked: missing.length - judged.length,
  };
}

/** undefined when the server no longer answers; an error about one place means that it does not know it. */
async function askOrGiveUp(
  ask: () => Promise<readonly SourcePlace[] | undefined>,
): Promise<readonly SourcePlace[] | undefined> {
  try {
    return (await ask()) ?? [];
  } catch (cause) {
    if (cause instanceof ServerRefused) return [];
    if (cause instanceof ServerUnavailable) return undefined;
    throw cause;
  }
}

/** Whether one of the places begins here or holds it. */
export const isAmong = (places: readonly SourcePlace[], { path, range }: SourcePlace): boolean =>
  places.some(
    (one) =>
      one.path === path && (compare(one.range.start, range.start) === 0 || holds(one.range, range.start)),
  );

export const filesOf = (places: readonly SourcePlace[]): Path[] => [
  ...new Set(places.map(({ path }) => path)),
];
