import { allowedIn, type Mode } from "../modes.ts";
import { type JsonSchema, toInputSchema } from "../schema.ts";
import type { AnyAction, ListingWeight, Tool } from "../tool.ts";
import { toFlatSchema, toSignatures } from "./flat-schema.ts";

/**
 * `default` lists tools, `split` lists actions, `lazy` lists the names of both and leaves the rest to `help` and
 * `schema`. The read-only view is any of them in mode `inspect`.
 */
export const PROFILES = ["default", "split", "lazy"] as const;
export type Profile = (typeof PROFILES)[number];

/** The entries of a tool, which is passed with only the actions that the mode allows. */
export type ProfileFunction = (tool: Tool) => readonly Offer[];

/** One entry of tools/list. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown };
  readonly outputSchema?: typeof ENVELOPE_SCHEMA;
  readonly annotations: Partial<Annotations>;
}

interface Annotations {
  readonly readOnlyHint: boolean;
  /** Meaningless for read-only actions, and left out there. */
  readonly destructiveHint?: boolean;
  readonly openWorldHint: boolean;
}

/** A listed name and its meaning: one action, or a tool with an `action` argument. */
export interface Offer {
  readonly listed: ListedTool;
  readonly tool: string;
  readonly action: string | undefined;
  /** Some of its calls may continue as jobs. */
  readonly mayBeTask: boolean;
  /** Its entry is as short as possible. */
  readonly isMinimal?: true;
  /** Its calls need the client for more than a form. */
  readonly usesClient?: true;
}

export const toOffers = (
  profile: Profile | ProfileFunction,
  mode: Mode | undefined,
  tool: Tool,
): readonly Offer[] => {
  const actions = Object.entries(tool.actions).filter(([, act]) => allowedIn(mode, act));
  if (typeof profile === "function") return profile({ ...tool, actions: Object.fromEntries(actions) });
  if (profile === "lazy") return [toBriefOffer(tool, actions)];
  // Split up, the built-ins of every tool would crowd out the rest; ws has the same for all tools.
  return profile === "split"
    ? actions.filter(([, act]) => !act.builtin).map(([name, act]) => toSplitOffer(tool, name, act))
    : [OFFER_BY_WEIGHT[tool.listing ?? "full"](tool, actions)];
};

const ENVELOPE_SCHEMA = {
  type: "object",
  properties: { ok: { type: "boolean" }, data: {}, error: {}, meta: { type: "object" } },
  required: ["ok", "meta"],
} as const;

/** Hosts grant permission per name, so the hints of a name cover its most powerful action. */
function toAnnotations(actions: readonly AnyAction[]): Annotations {
  const readOnly = actions.every(({ access }) => access === "read");
  return {
    readOnlyHint: readOnly,
    ...(!readOnly && { destructiveHint: actions.some(({ destructive }) => destructive) }),
    openWorldHint: actions.some(({ openWorld }) => openWorld),
  };
}

type NamedActions = readonly (readonly [name: string, act: AnyAction])[];

function toOffer(
  tool: Tool,
  acts: readonly AnyAction[],
  listed: Omit<ListedTool, "annotations">,
  action?: string,
): Offer {
  const mayBeTask = acts.some(({ timing }) => timing !== "sync");
  return { listed: { ...listed, annotations: toAnnotations(acts) }, tool: tool.name, action, mayBeTask };
}

const actsOf = (actions: NamedActions) => actions.map(([, act]) => act);
const namesOf = (actions: NamedActions) => actions.map(([name]) => name);

function toToolOffer(tool: Tool, actions: NamedActions): Offer {
  const { name } = tool;
  const { description, schemas } = describe(tool, actions);
  return toOffer(tool, actsOf(actions), {
    name,
    description,
    inputSchema: { ...toFlatSchema(name, namesOf(actions), schemas) },
    outputSchema: ENVELOPE_SCHEMA,
  });
}

/** The summary and the signatures. The built-in actions are only named; ws.help and ws.schema have their parameters. */
function describe({ summary }: Tool, actions: NamedActions) {
  const schemas = actions
    .filter(([, act]) => !act.builtin && act.listing !== "brief")
    .map(([action, act]) => [action, toInputSchema(act)] as const);
  const brief = namesOf(actions.filter(([, act]) => act.listing === "brief"));
  const briefNote = brief.length === 0 ? [] : [`See schema: ${brief.join(" ")}`];
  return { schemas, description: [summary, toSignatures(schemas), ...briefNote].join(" ") };
}

/**
 * The names of the actions. The envelope's schema is left out: repeated for every tool it would take a tenth of the
 * budget.
 */
const toBriefOffer = (tool: Tool, actions: NamedActions): Offer =>
  toOffer(tool, actsOf(actions), {
    name: tool.name,
    description: `${tool.summary} See help and schema.`,
    inputSchema: {
      type: "object",
      properties: { action: { type: "string", enum: namesOf(actions) } },
      required: ["action"],
      additionalProperties: true,
    },
  });

/** The signatures of the actions, without the schemas of their parameters. */
function toSignedOffer(tool: Tool, actions: NamedActions): Offer {
  const { listed, ...offer } = toBriefOffer(tool, actions);
  return { ...offer, listed: { ...listed, description: describe(tool, actions).description } };
}

/** Only the summary: at most 60 tokens, so that dozens of tools can be listed. */
function toOnDemandOffer(tool: Tool, actions: NamedActions): Offer {
  const acts = actsOf(actions);
  const { listed, ...offer } = toOffer(tool, acts, {
    name: tool.name,
    description: `${tool.summary} See help.`,
    inputSchema: { type: "object", properties: { action: { type: "string" } }, required: ["action"] },
  });
  return {
    ...offer,
    listed: { ...listed, annotations: withoutDefaults(toAnnotations(acts)) },
    isMinimal: true,
  };
}

/** Omits MCP's own defaults. */
const withoutDefaults = ({ readOnlyHint, destructiveHint, openWorldHint }: Annotations) => ({
  ...(readOnlyHint && { readOnlyHint }),
  ...(destructiveHint === false && { destructiveHint }),
  ...(!openWorldHint && { openWorldHint }),
});

const OFFER_BY_WEIGHT: Readonly<Record<ListingWeight, typeof toToolOffer>> = {
  full: toToolOffer,
  brief: toSignedOffer,
  on_demand: toOnDemandOffer,
};

function toSplitOffer(tool: Tool, action: string, act: AnyAction): Offer {
  const inputSchema = toStrictSchema(act);
  const listed = { name: `${tool.name}_${action}`, description: act.summary, inputSchema };
  return toOffer(tool, [act], { ...listed, outputSchema: ENVELOPE_SCHEMA }, action);
}

function toStrictSchema(act: AnyAction): ListedTool["inputSchema"] {
  const { $schema: _dialect, $defs: _definitions, properties = {}, ...rest } = toInputSchema(act);
  return { ...rest, type: "object", properties: withoutReferences(properties) };
}

/** Only a recursive schema has references; inside it anything is accepted here, and the dispatcher validates it. */
const withoutReferences = (properties: NonNullable<JsonSchema["properties"]>): Record<string, unknown> =>
  JSON.parse(JSON.stringify(properties), (_key, value) => (isReference(value) ? {} : value));

const isReference = (value: unknown) =>
  typeof value === "object" && value !== null && "$ref" in value && typeof value.$ref === "string";
