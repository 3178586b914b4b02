import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Path } from "../path.ts";

/** What stays beside a target for a moment; the name tells whose it is and cannot be guessed. */
export const newTempName = (): Path => `.octant-${randomUUID()}.tmp`;

/** Such a name and nothing else: whatever has it is removed. */
export const TempName = z.string().regex(/^\.octant-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.tmp$/);
