import type { Call, Mode, Registry } from "@octant/core";
import { type ListedTool, type Offer, type Profile, toOffers } from "./profiles.ts";

export interface ListingOptions {
  readonly registry: Registry;
  readonly profile?: Profile;
  readonly mode?: Mode;
}

/** What tools/list shows at one moment, and the way back from a listed name to an action. */
export interface Listing {
  readonly tools: readonly ListedTool[];
  /** The same as JSON, made once. */
  readonly json: string;
  /** The call behind a listed name; undefined when no such name is listed. */
  toCall(name: string, args: Readonly<Record<string, unknown>>): Call | undefined;
}

/** Throws a TypeError when the declarations cannot be told apart by a client. */
export function createListing({ registry, profile = "default", mode }: ListingOptions): Listing {
  const offers = new Map<string, Offer>();
  for (const offer of registry.list().flatMap((tool) => toOffers(profile, mode, tool))) {
    const { name } = offer.listed;
    const other = offers.get(name);
    if (other) throw new TypeError(`'${name}' would be listed twice: for ${other.tool} and ${offer.tool}`);
    offers.set(name, offer);
  }
  const tools = [...offers.values()].map(({ listed }) => listed);
  return {
    tools,
    json: JSON.stringify(tools),
    toCall(name, args) {
      const offer = offers.get(name);
      if (!offer) return undefined;
      if (offer.action !== undefined) return { tool: offer.tool, action: offer.action, input: args };
      const { action, ...input } = args;
      return { tool: offer.tool, action, input };
    },
  };
}
