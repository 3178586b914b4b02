import { action } from "@octant/core";
import { z } from "zod";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS } from "./errors.ts";
import { openUses } from "./open-uses.ts";
import { Paging, pageOfPlaces } from "./page.ts";
import { noteOutside, Outside, orderFrom, Place, sortPlaces, toPlace } from "./place.ts";
import { SpotInput, toSpot } from "./spot.ts";
import { placesText } from "./text.ts";
import { ByName, noteByName, noteLoading, Unsearched } from "./unsearched.ts";

export const references = (code: Code) =>
  action({
    summary: "Find all uses of a symbol, including its definition.",
    access: "read",
    timing: "async_short",
    intent: "inspect",
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
        ...{ results, total: inside.length },
        ...noteOutside(outside),
        ...noteLoading(found?.isLoading),
        ...noteByName(found?.matchesNames),
      };
    },
  });
