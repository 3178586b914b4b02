import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Path } from "../path.ts";

/** A temporary name beside a target; recognisable as ours and unguessable. */
export const newTempName = (): Path => `.octant-${randomUUID()}.tmp`;

/** Matches exactly such a name: any entry with it is removed. */
export const TempName = z.string().regex(/^\.octant-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/);
