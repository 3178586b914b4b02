import { action, Range, Uri } from "@octant/core";
import { pathToUri } from "@octant/host";
import { z } from "zod";
import { INSPECT, INSPECT_SHORT } from "../kinds.ts";
import { type Code, firstAnswer } from "./code.ts";
import { openUses } from "./open-uses.ts";
import { LIST_ERRORS, Paging, pageOfPlaces } from "./page.ts";
import { noteOutside, Outside, orderFrom, Place, sortPlaces, toPlace } from "./place.ts";
import { SpotInput, toSpot } from "./spot.ts";
import { placeLine, placesText } from "./text.ts";
import { ByName, noteByName, noteLoading, Unsearched } from "./unsearched.ts";

export const definition = (code: Code) =>
  action({
    summary: "Find the definition of a symbol.",
    ...INSPECT,
    input: z.strictObject({ ...SpotInput, ...Paging }),
    output: z.object({ results: z.array(Place), outside: Outside }),
    errors: LIST_ERRORS,
    examples: [
      { title: "By position", input: { uri: "src/main.ts", position: { line: 0, col: 13 } } },
      { title: "By symbol id", input: { symbol_id: "sym:src/util/add.ts#add" } },
    ],
    text: placesText("definition"),
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const spot = await toSpot(code, input);
      const found = await firstAnswer(code, spot.path, ctx, ({ definition: ask }) => ask?.(spot, ctx.signal));
      const { inside, outside } = sortPlaces(code, found ?? []);
      const results = await pageOfPlaces(inside, limit, ctx, (place) => toPlace(code, place));
      return { results, ...noteOutside(outside) };
    },
  });

export const references = (code: Code) =>
  action({
    summary: "Find all uses of a symbol, including its definition.",
    ...INSPECT_SHORT,
    input: z.strictObject({ ...SpotInput, ...Paging }),
    output: z.object({
      results: z.array(Place),
      total: z.int(),
      outside: Outside,
      incomplete: Unsearched.incomplete,
      note: ByName,
    }),
    errors: LIST_ERRORS,
    examples: [{ title: "Find its users", input: { symbol_id: "sym:src/main.ts#answer" } }],
    text: placesText("reference"),
    async run({ limit, cursor: _cursor, ...input }, ctx) {
      const spot = await toSpot(code, input);
      const found = await firstAnswer(code, spot.path, ctx, async (backend) => {
        await openUses(code, backend, spot, ctx.signal);
        const places = await backend.references?.(spot, ctx.signal);
        const { matchesNames } = backend;
        return places && { places, matchesNames, isLoading: backend.isLoading?.() ?? false };
      });
      const order = await orderFrom(code, spot);
      const { inside, outside } = sortPlaces(code, found?.places ?? [], order);
      const results = await pageOfPlaces(inside, limit, ctx, (place) => toPlace(code, place), order);
      return {
        results,
        total: inside.length,
        ...noteOutside(outside),
        ...noteLoading(found?.isLoading),
        ...noteByName(found?.matchesNames),
      };
    },
  });

const MAX_CALLS = 20;

const Call = Place.extend({
  name: z.string(),
  calls: z.array(z.object({ uri: Uri, range: Range })).describe("Call sites; the first 20"),
});

export const calls = (code: Code) =>
  action({
    summary: "List the callers of a function, or the functions it calls.",
    ...INSPECT_SHORT,
    input: z.strictObject({
      ...SpotInput,
      direction: z.enum(["incoming", "outgoing"]).default("incoming"),
      ...Paging,
    }),
    output: z.object({ results: z.array(Call), outside: Outside, note: ByName }),
    errors: LIST_ERRORS,
    examples: [{ title: "Find callers", input: { symbol_id: "sym:src/util/add.ts#add" } }],
    text: placesText<z.output<typeof Call>>("call", "calls", (row, reader) => {
      const at = row.calls.map(({ range }) => range.start.line + 1);
      const lines = at.length > 0 ? `  (calls on line ${[...new Set(at)].join(", ")})` : "";
      return placeLine(row, reader) + lines;
    }),
    async run({ limit, direction, cursor: _cursor, ...input }, ctx) {
      const spot = await toSpot(code, input);
      const found = await firstAnswer(code, spot.path, ctx, async (backend) => {
        const places = await backend.calls?.(spot, direction, ctx.signal);
        return places && { places, matchesNames: backend.matchesNames };
      });
      const order = await orderFrom(code, spot);
      const { inside, outside } = sortPlaces(code, found?.places ?? [], order);
      const toCall = async (call: (typeof inside)[number]) => {
        const place = await toPlace(code, call);
        const at = call.at.slice(0, MAX_CALLS).map(({ path, range }) => ({ uri: pathToUri(path), range }));
        return place && { ...place, name: call.name, calls: at };
      };
      const results = await pageOfPlaces(inside, limit, ctx, toCall, order);
      return { results, ...noteOutside(outside), ...noteByName(found?.matchesNames) };
    },
  });
