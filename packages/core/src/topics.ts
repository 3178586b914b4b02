import type { Caller } from "./tool.ts";
import type { Published, ReadableTopic } from "./topic.ts";

/** A topic that readers find by its name. */
export interface NamedTopic<T = unknown> {
  readonly summary: string;
  readonly events: ReadableTopic<T>;
  /** The only caller who may read the value, unless the reader sees all; everyone when undefined. */
  ownerOf?(value: T): string | undefined;
  /** The value as readers get it; the value itself when absent. */
  view?(event: Published<T>): object;
}

export type Topics = ReturnType<typeof createTopics>;

/** The topics of a server: its own, and those that its tools declare. */
export function createTopics(
  own: Readonly<Record<string, NamedTopic>>,
  tools: () => Iterable<{ readonly topics?: Readonly<Record<string, NamedTopic>> }>,
) {
  const all = (): Readonly<Record<string, NamedTopic>> =>
    // The server's own topics cannot be replaced by a tool.
    Object.assign({}, ...Array.from(tools(), ({ topics }) => topics), own);
  return {
    all,
    get(name: string): NamedTopic | undefined {
      // The lookup of an own topic creates no tools.
      const topics = Object.hasOwn(own, name) ? own : all();
      return Object.hasOwn(topics, name) ? topics[name] : undefined;
    },
  };
}

/** Whose jobs and events the caller sees; null for those of everyone. */
export const ownerFor = ({ id, sees }: Pick<Caller, "id" | "sees">): string | null =>
  sees === "all" ? null : id;

/** Whether the caller may read this value of the topic. */
export function mayRead(
  { ownerOf }: NamedTopic,
  caller: Pick<Caller, "id" | "sees">,
  value: unknown,
): boolean {
  const owner = ownerOf?.(value);
  return owner === undefined || caller.sees === "all" || owner === caller.id;
}

/** The event as a reader gets it. */
export const viewOf = ({ view }: NamedTopic, event: Published<unknown>): object =>
  view?.(event) ?? { seq: event.seq, at: event.at, ...Object(event.value) };
