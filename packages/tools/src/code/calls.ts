import { basename } from "node:path/posix";
import { action, type Context, Range, ToolError, Uri } from "@octant/core";
import { isWithin, type Path, pathToUri, type SourceCall, type SourcePlace, type Spot } from "@octant/host";
import { languageOf } from "@octant/search";
import { z } from "zod";
import { INSPECT_SHORT } from "../kinds.ts";
import { toHidden } from "../searched.ts";
import type { CodeBackend } from "./backend.ts";
import { type Code, firstAnswer } from "./code.ts";
import { type CrossCheck, crossCheck, filesOf, isAmong } from "./cross-check.ts";
import { Location, noteOutside, Outside, orderFrom, sortLocations, toLocation } from "./location.ts";
import { localScopeOf, type NamedUse, usesByName } from "./names.ts";
import { openUses } from "./open-uses.ts";
import { LIST_ERRORS, Paging, pageOfLocations } from "./paging.ts";
import { PositionInput, toPosition } from "./position-input.ts";
import { holds } from "./sources.ts";
import { locationLine, placesText } from "./text.ts";
import {
  ByName,
  NotListed,
  noteByName,
  noteIncomplete,
  noteNotListed,
  Unsearched,
  whyNoServer,
} from "./unsearched.ts";

const MAX_CALLS = 20;
const MAX_BY_NAME = 20;
/** Calls by name that a server is asked about. */
const MAX_ASKED = 100;

const Call = Location.extend({
  name: z.string(),
  calls: z.array(z.object({ uri: Uri, range: Range })).describe("Call sites; the first 20"),
});

export const calls = (code: Code) =>
  action({
    summary: "List the callers of a function, or the functions it calls.",
    ...INSPECT_SHORT,
    input: z.strictObject({
      ...PositionInput,
      direction: z.enum(["incoming", "outgoing"]).default("incoming"),
      ...Paging,
    }),
    output: z.object({
      results: z.array(Call),
      by_name: z
        .object({ total: z.int(), results: z.array(Call).describe("The first 20") })
        .optional()
        .describe("Calls by this name that the language server cannot attribute to any function"),
      not_listed: NotListed,
      outside: Outside,
      incomplete: Unsearched.incomplete,
      note: ByName,
    }),
    errors: [...LIST_ERRORS, "UNSUPPORTED"],
    examples: [{ title: "Find callers", input: { symbol_id: "sym:src/util/add.ts#add" } }],
    text: placesText<z.output<typeof Call>>("call", "calls", (row, reader) => {
      const at = row.calls.map(({ range }) => range.start.line + 1);
      const lines = at.length > 0 ? `  (calls on line ${[...new Set(at)].join(", ")})` : "";
      return locationLine(row, reader) + lines;
    }),
    async run({ limit, direction, cursor: _cursor, ...input }, ctx) {
      const spot = await toPosition(code, input);
      const find = direction === "incoming" ? findCallers : findCallees;
      const isEmpty = ({ found, byName }: Found) => found.length + byName.length === 0;
      const ask = (backend: CodeBackend) => find(code, backend, spot, ctx);
      const answered = await firstAnswer(code, spot.path, ctx, ask, { isEmpty });
      if (!answered.answer) throw cannotSeeCalls(await whyNoServer(code, spot.path));
      const { found, byName, notes } = answered.answer;
      const order = await orderFrom(code, spot);
      const { inside, outside } = sortLocations(code, found, order);
      const toCall = async (call: SourceCall) => {
        const place = await toLocation(code, call);
        const at = call.at.slice(0, MAX_CALLS).map(({ path, range }) => ({ uri: pathToUri(path), range }));
        return place && { ...place, name: call.name, calls: at };
      };
      const results = await pageOfLocations(inside, limit, ctx, toCall, order);
      const named = await Promise.all(byName.slice(0, MAX_BY_NAME).map(toCall));
      return {
        results,
        ...(byName.length > 0 && {
          by_name: { total: byName.length, results: named.filter((call) => call !== undefined) },
        }),
        ...noteOutside(outside),
        ...notes,
        ...(await noteByName(code, spot.path, answered)),
      };
    },
  });

const cannotSeeCalls = (why: string) =>
  new ToolError("UNSUPPORTED", `calls in this language cannot be analysed here; ${why}`, {
    what: "calls of this language",
    how: "set language_servers in your settings, or ask code.references",
  });

interface Found {
  readonly found: readonly SourceCall[];
  /** Calls that the language server does not know. */
  readonly byName: readonly SourceCall[];
  readonly notes: ReturnType<typeof noteNotListed> & ReturnType<typeof noteIncomplete>;
}

/** The callers that the backend lists, and callers found by name whose calls the backend resolves to the same function. */
async function findCallers(
  code: Code,
  backend: CodeBackend,
  spot: Spot,
  ctx: Context,
): Promise<Found | undefined> {
  const { signal } = ctx;
  const search = { signal, isHidden: toHidden(ctx), ...(backend.covers && { covers: backend.covers }) };
  const isCall = ({ role }: NamedUse) => role === "call";
  if (backend.matchesNames) {
    if (!languageOf(spot.path)?.calls) return undefined;
    const { uses, unread } = await usesByName(code, spot, search);
    const found = await toCallers(code, uses.filter(isCall));
    return { found, byName: [], notes: noteUnread(unread) };
  }
  if (!backend.calls) return undefined;
  const definitions = (await backend.definition?.(spot, signal)) ?? [];
  const within = await localScopeOf(code, definitions);
  if (!within && backend.lacks?.(spot.path) !== undefined) return undefined;
  const named = await usesByName(code, spot, { ...search, within });
  await openUses(code, backend, spot, filesOf(named.uses), signal);
  const listed = await backend.calls(spot, "incoming", signal);
  if (!listed) return undefined;
  const sites = listed.flatMap(({ at }) => at);
  const compared = { spot, definitions, listed: sites, uses: named.uses.filter(isCall), maxAsked: MAX_ASKED };
  const check = await crossCheck(code, backend, compared, signal);
  return {
    found: merge([...listed, ...(await toCallers(code, check.same))]),
    byName: await toCallers(code, check.unknown),
    notes: { ...noteUnread(named.unread, check), ...noteIncomplete(backend) },
  };
}

const noteUnread = (unread: readonly Path[], check?: CrossCheck) =>
  noteNotListed({ inText: 0, elsewhere: [], unread }, check);

/** The functions around calls; for a call at the top level, the file. */
async function toCallers({ sources }: Code, calls: readonly NamedUse[]): Promise<SourceCall[]> {
  const groups = Map.groupBy(calls, ({ path, within }) => `${path}\n${within?.path ?? ""}`);
  return Promise.all(
    [...groups.values()].map(async (inside): Promise<SourceCall> => {
      const [{ path, within }] = inside as [NamedUse, ...NamedUse[]];
      const at = inside.map(({ range }) => ({ path, range }));
      const symbol = within && (await sources.symbols(path)).find((one) => one.path === within.path);
      if (symbol) return { name: symbol.name, path, range: symbol.nameRange, at };
      return { name: basename(path), path, range: START_OF_FILE, at };
    }),
  );
}

const START_OF_FILE: Range = { start: { line: 0, col: 0 }, end: { line: 0, col: 0 } };

/** One row for each function, with each call once. */
function merge(all: readonly SourceCall[]): SourceCall[] {
  const keyOf = ({ path, range: { start } }: SourcePlace) => `${path}:${start.line}:${start.col}`;
  return [...Map.groupBy(all, keyOf).values()].map((calls) => {
    const { name, path, range } = calls[0]!;
    const at = new Map(calls.flatMap((call) => call.at).map((site) => [keyOf(site), site]));
    // For a call at the top level, TypeScript names the file by its path.
    return { name: name.startsWith("/") ? basename(name) : name, path, range, at: [...at.values()] };
  });
}

/** The functions that a backend lists, and those that syntax shows and it leads to, if they are defined in the project. */
async function findCallees(
  code: Code,
  backend: CodeBackend,
  spot: Spot,
  { signal }: Context,
): Promise<Found | undefined> {
  const language = languageOf(spot.path);
  if (backend.matchesNames && !language?.calls) return undefined;
  if (!backend.matchesNames && (!backend.calls || backend.lacks?.(spot.path) !== undefined)) return undefined;
  const listed = (await backend.calls?.(spot, "outgoing", signal)) ?? [];
  const sites = listed.flatMap(({ at }) => at);
  const self = language && (await code.sources.enclosing(spot.path, spot.position));
  const inside = self ? await code.sources.calls(code.sources.read(spot.path)) : [];
  const left = inside
    .filter(({ range }) => self && holds(self.range, range.start))
    .filter(({ range }) => !isAmong(sites, { path: spot.path, range }));
  const [found, byName]: [SourceCall[], SourceCall[]] = [[...listed], []];
  for (const group of Map.groupBy(left, ({ name }) => name).values()) {
    const { name, range } = group[0]!;
    const at = group.map((call) => ({ path: spot.path, range: call.range }));
    const toRow = (place: SourcePlace) => ({ name, path: place.path, range: place.range, at });
    const defined = (await backend.definition?.({ path: spot.path, position: range.start }, signal)) ?? [];
    const own = defined.find(({ path }) => isOfProject(code, path));
    if (own) found.push(toRow(own));
    if (defined.length > 0 || backend.matchesNames || !language) continue;
    const [symbol] = await code.symbols.named(name, language, signal);
    if (symbol) byName.push(toRow({ path: symbol.file, range: symbol.nameRange }));
  }
  return { found: merge(found), byName, notes: noteIncomplete(backend) };
}

const isOfProject = ({ workspace }: Code, path: Path) =>
  workspace.confinement.roots.some((root) => isWithin(root, path));
