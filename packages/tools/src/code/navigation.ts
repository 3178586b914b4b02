import { action, type Context } from "@octant/core";
import type { SourcePlace, Spot } from "@octant/host";
import { z } from "zod";
import { INSPECT, INSPECT_SHORT } from "../kinds.ts";
import { toHidden } from "../searched.ts";
import type { CodeBackend } from "./backend.ts";
import { type Code, firstAnswer } from "./code.ts";
import { crossCheck, filesOf } from "./cross-check.ts";
import { Location, noteOutside, Outside, orderFrom, sortLocations, toLocation } from "./location.ts";
import { localScopeOf, usesByName } from "./names.ts";
import { openUses } from "./open-uses.ts";
import { LIST_ERRORS, Paging, pageOfLocations } from "./paging.ts";
import { PositionInput, toPosition } from "./position-input.ts";
import { placesText } from "./text.ts";
import { ByName, NotListed, noteByName, noteIncomplete, noteNotListed, Unsearched } from "./unsearched.ts";

export const definition = (code: Code) =>
  action({
    summary: "Find the definition of a symbol.",
    ...INSPECT,
    input: z.strictObject({ ...PositionInput, ...Paging }),
    output: z.object({ results: z.array(Location), outside: Outside, note: ByName }),
    errors: LIST_ERRORS,
    examples: [
      { title: "By position", input: { uri: "src/main.ts", position: { line: 0, col: 13 } } },
      { title: "By symbol id", input: { symbol_id: "sym:src/util/add.ts#add" } },
    ],
    text: placesText("definition"),
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const spot = await toPosition(code, input);
      const name = code.sources.nameAt(spot);
      const ask = async ({ definition: asked, lacks }: CodeBackend) => {
        const found = await asked?.(spot, ctx.signal);
        if (lacks?.(spot.path) === undefined) return found;
        // It guesses where it does not understand the code.
        return found?.filter(
          ({ path, range }) => code.sources.nameAt({ path, position: range.start }) === name,
        );
      };
      const isEmpty = (found: readonly SourcePlace[]) => found.length === 0;
      const answered = await firstAnswer(code, spot.path, ctx, ask, { isEmpty });
      const { inside, outside } = sortLocations(code, answered.answer ?? []);
      const results = await pageOfLocations(inside, limit, ctx, (place) => toLocation(code, place));
      return { results, ...noteOutside(outside), ...(await noteByName(code, spot.path, answered)) };
    },
  });

/** Uses by name that a server is asked about. */
const MAX_ASKED = 100;
const MAX_BY_NAME = 20;

export const references = (code: Code) =>
  action({
    summary: "Find all uses of a symbol, including its definition.",
    ...INSPECT_SHORT,
    input: z.strictObject({ ...PositionInput, ...Paging }),
    output: z.object({
      results: z.array(Location),
      total: z.int(),
      by_name: PlacesByName,
      not_listed: NotListed,
      outside: Outside,
      incomplete: Unsearched.incomplete,
      note: ByName,
    }),
    errors: LIST_ERRORS,
    examples: [{ title: "Find its users", input: { symbol_id: "sym:src/main.ts#answer" } }],
    text: placesText("reference"),
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const spot = await toPosition(code, input);
      const answered = await firstAnswer(
        code,
        spot.path,
        ctx,
        (backend) => findUses(code, backend, spot, ctx),
        { isEmpty: ({ places }) => places.length === 0 },
      );
      const { places = [], named, check, incomplete } = answered.answer ?? {};
      const order = await orderFrom(code, spot);
      const { inside, outside } = sortLocations(code, places, order);
      const results = await pageOfLocations(inside, limit, ctx, (place) => toLocation(code, place), order);
      return {
        results,
        total: inside.length,
        ...(await toLocationsByName(code, check?.unknown ?? [])),
        ...(named && noteNotListed(named, check)),
        ...noteOutside(outside),
        ...incomplete,
        ...(await noteByName(code, spot.path, answered)),
      };
    },
  });

/** The uses that a backend lists, and those by name that it leads to the same symbol. */
async function findUses(code: Code, backend: CodeBackend, spot: Spot, ctx: Context) {
  const { signal } = ctx;
  const search = { signal, isHidden: toHidden(ctx), ...(backend.covers && { covers: backend.covers }) };
  if (backend.matchesNames) {
    const named = await usesByName(code, spot, search);
    return { places: named.uses, named, check: undefined, incomplete: undefined };
  }
  const definitions = (await backend.definition?.(spot, signal)) ?? [];
  const within = await localScopeOf(code, definitions);
  if (!within && backend.lacks?.(spot.path) !== undefined) return undefined;
  const named = await usesByName(code, spot, { ...search, within });
  await openUses(code, backend, spot, filesOf(named.uses), signal);
  const listed = await backend.references?.(spot, signal);
  if (!listed) return undefined;
  const compared = { spot, definitions, listed, uses: named.uses, maxAsked: MAX_ASKED };
  const check = await crossCheck(code, backend, compared, signal);
  const incomplete = noteIncomplete(backend);
  return { places: [...listed, ...check.same], named, check, incomplete };
}

const PlacesByName = z
  .object({ total: z.int(), results: z.array(Location).describe("The first 20") })
  .optional()
  .describe("Uses of the name that the language server cannot attribute to any symbol");

async function toLocationsByName(code: Code, uses: readonly SourcePlace[]) {
  if (uses.length === 0) return {};
  const results = await Promise.all(uses.slice(0, MAX_BY_NAME).map((use) => toLocation(code, use)));
  return { by_name: { total: uses.length, results: results.filter((place) => place !== undefined) } };
}
