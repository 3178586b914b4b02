import { action } from "@octant/core";
import { z } from "zod";
import { type Code, firstAnswer } from "./code.ts";
import { LIST_ERRORS } from "./errors.ts";
import { Paging, pageOfPlaces } from "./page.ts";
import { noteOutside, Outside, Place, sortPlaces, toPlace } from "./place.ts";
import { SpotInput, toSpot } from "./spot.ts";
import { placesText } from "./text.ts";

export const definition = (code: Code) =>
  action({
    summary: "Find the definition of a symbol.",
    access: "read",
    timing: "sync",
    intent: "inspect",
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
