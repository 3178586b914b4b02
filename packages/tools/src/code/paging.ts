import { ANSWER_BYTES, type Context, type ErrorCode, pagingInput, Range } from "@octant/core";
import type { SourcePlace } from "@octant/host";
import { z } from "zod";
import { type CompareLocations, compareLocations } from "./location.ts";
import { POSITION_ERRORS } from "./position-input.ts";

export const Paging = pagingInput(50, 500);
export const LIST_ERRORS: readonly ErrorCode[] = [
  ...POSITION_ERRORS,
  "INVALID_CURSOR",
  "EXEC_FAILED",
  "TIMEOUT",
];

/** Reserved for the fields around the list. */
const MARGIN_BYTES = 2_048;

const AfterLocation = z.object({ path: z.string(), range: Range });

/**
 * One page of locations in order. Each page queries again and continues after the last location of the previous one,
 * so that concurrent changes shift nothing.
 */
export async function pageOfLocations<P extends SourcePlace, R>(
  places: readonly P[],
  limit: number,
  ctx: Pick<Context, "resume" | "more">,
  toResult: (place: P) => Promise<R | undefined>,
  order: CompareLocations = compareLocations,
): Promise<R[]> {
  const after = locationBefore(ctx);
  const waiting = after ? places.filter((place) => order(place, after) > 0) : places;
  return fill(waiting, limit, toResult, ({ path, range }) => ctx.more({ path, range }));
}

/** The last location of the previous page. */
export const locationBefore = (ctx: Pick<Context, "resume">) => ctx.resume(AfterLocation);

const AfterCount = z.object({ passed: z.int().min(0) });

/** For lists ordered by rank, where only the index in the list identifies a position. */
export async function pageOfRanks<T, R>(
  items: readonly T[],
  limit: number,
  ctx: Pick<Context, "resume" | "more">,
  toResult: (item: T) => Promise<R | undefined> | R | undefined,
): Promise<R[]> {
  const passed = passedBefore(ctx);
  const ranked = items.map((item, rank) => ({ item, rank }));
  return fill(
    ranked.slice(passed),
    limit,
    async ({ item }) => toResult(item),
    ({ rank }) => ctx.more({ passed: rank + 1 }),
  );
}

export const passedBefore = (ctx: Pick<Context, "resume">): number => ctx.resume(AfterCount)?.passed ?? 0;

/** As many as fit into an answer, but at least one. */
async function fill<T, R>(
  items: readonly T[],
  limit: number,
  toResult: (item: T) => Promise<R | undefined>,
  more: (last: T) => void,
): Promise<R[]> {
  const page: R[] = [];
  let bytes = MARGIN_BYTES;
  for (const [n, item] of items.entries()) {
    const result = await toResult(item);
    if (result === undefined) continue;
    bytes += JSON.stringify(result).length;
    const before = items[n - 1];
    if (before !== undefined && page.length > 0 && (page.length === limit || bytes > ANSWER_BYTES)) {
      more(before);
      break;
    }
    page.push(result);
  }
  return page;
}
