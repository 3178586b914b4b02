import { hash, randomBytes } from "node:crypto";
import type { Caller } from "@octant/core";
import type { PreviewTarget } from "./preview-address.ts";

/** The right of a caller to use one preview. */
export interface PreviewGrant extends PreviewTarget {
  readonly caller: Caller;
}

interface Stored {
  readonly grant: PreviewGrant;
  readonly untilMs: number;
}

const CODE_BYTES = 32;
const LINK_MS = 10 * 60_000;
export const COOKIE_MS = 12 * 3_600_000;
/** The grants of each kind; when there are more, the oldest end. */
const MAX_GRANTS = 1_000;

export type PreviewGrants = ReturnType<typeof createPreviewGrants>;

/** One-time links to previews, and the cookies that they are exchanged for. Both end with the hub. */
export function createPreviewGrants() {
  const links = new Map<string, Stored>();
  const cookies = new Map<string, Stored>();
  const add = (all: Map<string, Stored>, grant: PreviewGrant, lifeMs: number): string => {
    for (const oldest of all.keys()) if (all.size >= MAX_GRANTS) all.delete(oldest);
    const code = randomBytes(CODE_BYTES).toString("base64url");
    all.set(digest(code), { grant, untilMs: Date.now() + lifeMs });
    return code;
  };
  const find = (all: Map<string, Stored>, code: string, target: PreviewTarget): PreviewGrant | undefined => {
    const { grant, untilMs = 0 } = all.get(digest(code)) ?? {};
    const isFor = grant?.project_id === target.project_id && grant.port === target.port;
    return isFor && untilMs > Date.now() ? grant : undefined;
  };
  return {
    /** The code of a link that opens a preview once. */
    createLink: (grant: PreviewGrant): string => add(links, grant, LINK_MS),
    /** The cookie for a link's code; undefined when the link was used, has expired or is for another preview. */
    redeem(code: string, target: PreviewTarget): string | undefined {
      const grant = find(links, code, target);
      links.delete(digest(code));
      return grant && add(cookies, grant, COOKIE_MS);
    },
    find: (cookie: string, target: PreviewTarget): PreviewGrant | undefined => find(cookies, cookie, target),
  };
}

/** Looked up by digest, so that the time of a lookup tells nothing about a code. */
const digest = (code: string): string => hash("sha256", code, "hex");
