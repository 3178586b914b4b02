import type { Context } from "@octant/core";
import { z } from "zod";
import type { HubRecord } from "./hub-store.ts";

/** A page of records, which come newest first. The next one begins after its last, whatever came or went meanwhile. */
export function pageOf<T extends Pick<HubRecord, "id" | "created_at">>(
  all: readonly T[],
  limit: number,
  ctx: Pick<Context, "resume" | "more">,
): readonly T[] {
  const before = ctx.resume(z.string());
  const rest = before === undefined ? all : all.filter((one) => orderOf(one) < before);
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  if (last && rest.length > limit) ctx.more(orderOf(last));
  return page;
}

const orderOf = ({ created_at, id }: Pick<HubRecord, "id" | "created_at">) => `${created_at} ${id}`;
