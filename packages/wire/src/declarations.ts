import { isDeepStrictEqual } from "node:util";
import {
  type Action,
  type AnyAction,
  type ArgumentPlace,
  createRegistry,
  type ListingWeight,
  placesIn,
  type Registry,
  type Tool,
  toInputSchema,
  withPlaces,
} from "@octant/core";
import { z } from "zod";
import type { ServerReady } from "./ready.ts";

/** A tool as data, for listing it in another process. The schemas are JSON Schema. */
export interface ToolDeclaration {
  readonly name: string;
  readonly summary: string;
  readonly version?: string;
  /** Without it a list of tools would show all of a tool that is brief where it runs. */
  readonly listing?: ListingWeight;
  readonly actions: Readonly<Record<string, ActionDeclaration>>;
}

const PLAIN = [
  "summary",
  "access",
  "target",
  "timing",
  "intent",
  "destructive",
  "openWorld",
  "parallel",
  "runsCommands",
  "listing",
  "builtin",
  "errors",
  "examples",
] as const satisfies readonly (keyof Action)[];

type Plain = Pick<Action, (typeof PLAIN)[number]>;

export interface ActionDeclaration extends Plain {
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: Readonly<Record<string, unknown>>;
  /** Where the input and the output name files, commands and hosts, for the rules of the other process. */
  readonly places?: { readonly input: readonly ArgumentPlace[]; readonly output: readonly ArgumentPlace[] };
}

export const toDeclaration = (tool: Tool): ToolDeclaration =>
  declare(
    tool,
    Object.entries(tool.actions).map(([key, act]) => [key, toActionDeclaration(act)]),
  );

const declare = (
  { name, summary, version, listing }: Tool,
  actions: readonly (readonly [string, ActionDeclaration])[],
): ToolDeclaration => ({
  name,
  summary,
  ...(version !== undefined && { version }),
  ...(listing && { listing }),
  actions: Object.fromEntries(actions),
});

/**
 * A tool as an agent in another process lists it: without built-in actions and the schemas that a list does
 * not show. The schemas of all tools take as long as the rest of the start of a session.
 */
export function toListedDeclaration(tool: Tool): ToolDeclaration {
  const own = Object.entries(tool.actions).filter(([, act]) => !act.builtin);
  return declare(
    tool,
    own.map(([key, act]) => {
      const isShown = tool.listing !== "on_demand" && act.listing !== "brief";
      const input = isShown ? { ...toInputSchema(act) } : {};
      return [key, { ...toPlain(act), input, output: {} }];
    }),
  );
}

// Picking keeps exactly the fields of Plain: functions stay in their process.
const toPlain = (act: AnyAction): Plain =>
  Object.fromEntries(PLAIN.map((field) => [field, act[field]])) as unknown as Plain;

function toActionDeclaration(act: AnyAction): ActionDeclaration {
  const output = z.toJSONSchema(act.output, { io: "output", unrepresentable: "any" });
  const places = { input: placesIn(act.input), output: placesIn(act.output) };
  const isNone = places.input.length + places.output.length === 0;
  return {
    ...toPlain(act),
    input: { ...toInputSchema(act) },
    output: { ...output },
    ...(!isNone && { places }),
  };
}

/**
 * A tool of another process that is called through this one's dispatcher, which applies its rules to it. The other
 * process validates input and output; `run` calls it.
 */
export function toForeignTool(declaration: ToolDeclaration, run: (action: string) => AnyAction["run"]): Tool {
  const own = Object.entries(declaration.actions).filter(([, { builtin }]) => !builtin);
  const actions = own.map(([key, { input, output, places, ...plain }]) => {
    const names = Object.keys(Object(input["properties"]));
    const shape = names.map((name) => [
      name,
      withPlaces(
        (places?.input ?? [])
          .filter(({ keys }) => keys[0] === name)
          .map(({ kind, keys }) => ({ kind, keys: keys.slice(1) })),
      ).optional(),
    ]);
    const schemas = {
      input: z.strictObject(Object.fromEntries(shape)).meta(input),
      output: withPlaces(places?.output ?? []).meta(output),
    };
    return [key, { ...plain, ...schemas, run: run(key) }];
  });
  return { ...declaration, actions: Object.fromEntries(actions) };
}

/**
 * A tool that is listed here and runs elsewhere. Its schemas describe and validate nothing: the dispatcher that has
 * the tool validates, once.
 */
function toRemoteTool(declaration: ToolDeclaration): Tool {
  const actions = Object.entries(declaration.actions).map(([key, { input, output, places: _, ...plain }]) => [
    key,
    { ...plain, input: z.looseObject({}).meta(input), output: z.unknown().meta(output), run: runsElsewhere },
  ]);
  return { ...declaration, actions: Object.fromEntries(actions) };
}

/** The tools of a place in another process. */
export const createRemoteRegistry = (declarations: readonly ToolDeclaration[]): Registry =>
  createRegistry(declarations.map(toRemoteTool));

interface Server {
  ready(options: { readonly declarations: true }): Promise<ServerReady>;
}

/** The tools of a server in another process, listed again at each change that `follow` reports. */
export async function followServer(
  server: Server,
  /** Resolves once it follows the tools, so that no change is missed. */
  follow: (onChange: () => void) => Promise<unknown>,
  log: (line: string) => void,
): Promise<{ readonly registry: Registry; readonly ready: ServerReady }> {
  const registry = createRegistry([]);
  let known: readonly ToolDeclaration[] = [];
  /** Adds, replaces and removes the tools that differ from the last declarations. */
  const update = ({ declarations: now = [] }: ServerReady) => {
    const isIn = (list: readonly ToolDeclaration[], tool: ToolDeclaration) =>
      list.some((other) => isDeepStrictEqual(other, tool));
    for (const tool of known) if (!isIn(now, tool)) registry.removeTool(tool.name);
    for (const tool of now) if (!isIn(known, tool)) registry.addTool(toRemoteTool(tool));
    known = now;
  };
  const list = () => server.ready({ declarations: true });
  await follow(() => void list().then(update, (cause) => log(`the tool list stays as it was: ${cause}`)));
  const ready = await list();
  update(ready);
  return { registry, ready };
}

const runsElsewhere = () => {
  throw new Error("a remote tool is called through the dispatcher of its server");
};
