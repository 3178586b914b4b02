import type { Call } from "../dispatch.ts";
import type { Mode } from "../modes.ts";
import type { Registry } from "../registry.ts";
import { createTopic } from "../topic.ts";
import { type ListedTool, type Offer, type Profile, type ProfileFunction, toOffers } from "./profiles.ts";

/**
 * `structured` returns the envelope as structured content beside a text; `text` returns only the form that a model
 * reads best.
 */
export const ANSWERS = ["structured", "text"] as const;
export type Answers = (typeof ANSWERS)[number];

export interface ListingOptions {
  readonly registry: Registry;
  /** The entries of a tool: a built-in profile or a custom one. */
  readonly profile?: Profile | ProfileFunction;
  readonly mode?: Mode;
  readonly answers?: Answers;
  /** The result for the same declarations and options from the cache; computing it takes a tenth of a start. */
  readonly offers?: readonly Offer[];
}

/** The list of tools at one moment, and the mapping from a listed name to an action. */
export interface Listing {
  readonly offers: readonly Offer[];
  readonly tools: readonly ListedTool[];
  offer(name: string): Offer | undefined;
  /** The call behind a listed name; undefined when the name is not listed. */
  toCall(name: string, args: Readonly<Record<string, unknown>>): Call | undefined;
}

/** The listing of tools that may change at run time. */
export type LiveListing = ReturnType<typeof createLiveListing>;

export function createLiveListing(
  { offers, ...options }: Omit<ListingOptions, "answers">,
  log: (line: string) => void,
) {
  const listBoth = (known?: readonly Offer[]) => {
    const structured = createListing({ ...options, ...(known && { offers: known }) });
    const text = createListing({ ...options, offers: structured.offers, answers: "text" });
    return { structured, text } satisfies Record<Answers, Listing>;
  };
  let listings = listBoth(offers);
  let isStale = false;
  let isAnnounced = true;
  const changes = createTopic<void>({ maxEvents: 0 });
  const close = options.registry.changes.listen(() => {
    isStale = true;
    if (!isAnnounced) return;
    isAnnounced = false;
    // Tools that change together are announced together.
    queueMicrotask(() => {
      isAnnounced = true;
      changes.publish();
    });
  });
  return {
    current(answers: Answers = "structured"): Listing {
      if (!isStale) return listings[answers];
      isStale = false;
      try {
        listings = listBoth();
      } catch (cause) {
        // A tool added at run time must not break the others.
        log(`the tool list stays as it was: ${cause}`);
      }
      return listings[answers];
    },
    onChange: (listener: () => void) => changes.listen(listener),
    close,
  };
}

/** Throws a TypeError when a client could not tell the declarations apart. */
export function createListing(options: ListingOptions): Listing {
  const { answers = "structured" } = options;
  const offers = new Map<string, Offer>();
  const made = options.offers ?? makeOffers(options);
  for (const offer of made) {
    const { name } = offer.listed;
    const other = offers.get(name);
    if (other) throw new TypeError(`'${name}' would be listed twice: for ${other.tool} and ${offer.tool}`);
    offers.set(name, { ...offer, listed: toShown(offer.listed, answers) });
  }
  return {
    offers: made,
    tools: [...offers.values()].map(({ listed }) => listed),
    offer: (name) => offers.get(name),
    toCall(name, args) {
      const offer = offers.get(name);
      if (!offer) return undefined;
      if (offer.action !== undefined) return { tool: offer.tool, action: offer.action, input: args };
      const { action, ...input } = args;
      return { tool: offer.tool, action, input };
    },
  };
}

const makeOffers = ({ registry, profile = "default", mode }: ListingOptions): readonly Offer[] =>
  registry.list().flatMap((tool) => toOffers(profile, mode, tool));

/** A client that is promised structured content rejects an answer without it. */
function toShown(listed: ListedTool, answers: Answers): ListedTool {
  if (answers === "structured") return listed;
  const { outputSchema: _schema, ...rest } = listed;
  return rest;
}
