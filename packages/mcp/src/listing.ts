import type { Call, Mode, Registry } from "@octant/core";
import type { Answers } from "./answer.ts";
import { type ListedTool, type Offer, type Profile, type ProfileFunction, toOffers } from "./profiles.ts";

export interface ListingOptions {
  readonly registry: Registry;
  /** Which entries stand for a tool: one of ours, or a way of one's own. */
  readonly profile?: Profile | ProfileFunction;
  readonly mode?: Mode;
  readonly answers?: Answers;
  /** What these very declarations and options came to before; making it takes a tenth of a start. */
  readonly offers?: readonly Offer[];
}

export interface ListedOffer extends Offer {
  /** Some of its arguments have to be in the headers of a request as well. */
  readonly usesHeaders: boolean;
}

/** What tools/list shows at one moment, and the way back from a listed name to an action. */
export interface Listing {
  readonly offers: readonly Offer[];
  readonly tools: readonly ListedTool[];
  /** The same as JSON, made once. */
  readonly json: string;
  /** For clients of the handshake revisions, which are told here what may become a task. */
  readonly legacyTools: readonly ListedTool[];
  readonly legacyJson: string;
  offer(name: string): ListedOffer | undefined;
  /** The call behind a listed name; undefined when no such name is listed. */
  toCall(name: string, args: Readonly<Record<string, unknown>>): Call | undefined;
}

/** The listing of tools that may change at run time. */
export interface LiveListing {
  current(): Listing;
  onChange(listener: () => void): () => void;
  close(): void;
}

export function createLiveListing(
  { registry, profile, mode, answers, offers }: ListingOptions,
  log: (line: string) => void,
): LiveListing {
  const options: ListingOptions = {
    registry,
    ...(profile && { profile }),
    ...(mode && { mode }),
    ...(answers && { answers }),
  };
  let listing = createListing({ ...options, ...(offers && { offers }) });
  let isStale = false;
  const stop = registry.changes.listen(() => {
    isStale = true;
  });
  return {
    current() {
      if (!isStale) return listing;
      isStale = false;
      try {
        listing = createListing(options);
      } catch (cause) {
        // A tool added at run time must not take the others down.
        log(`the tool list stays as it was: ${cause}`);
      }
      return listing;
    },
    onChange: (listener) => registry.changes.listen(listener),
    close: stop,
  };
}

/** Throws a TypeError when the declarations cannot be told apart by a client. */
export function createListing(options: ListingOptions): Listing {
  const { answers = "structured" } = options;
  const offers = new Map<string, ListedOffer>();
  const made = options.offers ?? makeOffers(options);
  for (const offer of made) {
    const { name } = offer.listed;
    const other = offers.get(name);
    if (other) throw new TypeError(`'${name}' would be listed twice: for ${other.tool} and ${offer.tool}`);
    const listed = toShown(offer.listed, answers);
    offers.set(name, { ...offer, listed, usesHeaders: HEADER.test(JSON.stringify(listed.inputSchema)) });
  }
  const shown = [...offers.values()];
  const tools = shown.map(({ listed }) => listed);
  const legacyTools = shown.map(({ listed, mayBeTask, isMinimal }) =>
    mayBeTask && !isMinimal ? { ...listed, execution: { taskSupport: "optional" } as const } : listed,
  );
  const json = JSON.stringify(tools);
  return {
    offers: made,
    tools,
    json,
    legacyTools,
    legacyJson: shown.some(({ mayBeTask }) => mayBeTask) ? JSON.stringify(legacyTools) : json,
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

const HEADER = /"x-mcp-header":/;

/** A client that is promised structured content refuses an answer without it. */
function toShown(listed: ListedTool, answers: Answers): ListedTool {
  if (answers === "structured") return listed;
  const { outputSchema: _schema, ...rest } = listed;
  return rest;
}
