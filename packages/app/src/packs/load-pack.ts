import { pathToFileURL } from "node:url";
import { type PackContext, TIMINGS, type Tool, ToolError } from "@octant/core";
import { z } from "zod";
import { provideImports } from "./provide-imports.ts";
import type { FoundPack } from "./read-pack.ts";

/** The surroundings of a pack, with settings as the person wrote them. */
export interface Surroundings
  extends Pick<PackContext, "folder" | "roots" | "log" | "client" | "credentials"> {
  readonly settings: Readonly<Record<string, unknown>> | undefined;
}

export interface LoadedPack {
  readonly tools: readonly Tool[];
  close(): Promise<void>;
}

/** Runs the module of a pack and makes its tools. A ToolError says what is wrong with the pack. */
export async function loadPack(
  pack: Pick<FoundPack, "pack" | "folder" | "entry" | "version">,
  { settings: given, ...surroundings }: Surroundings,
): Promise<LoadedPack> {
  const closers: (() => Promise<void> | void)[] = [];
  const imports = provideImports(pack.folder);
  const close = async () => {
    for (const one of closers.splice(0).reverse()) await one();
    imports[Symbol.dispose]();
  };
  try {
    const { tools, settings: schema } = await importModule(pack);
    const settings = checkSettings(pack.pack, schema, given);
    const onClose = (one: () => Promise<void> | void) => void closers.push(one);
    const made = typeof tools === "function" ? await tools({ ...surroundings, settings, onClose }) : tools;
    return { tools: checkTools(pack.pack, made).map((tool) => ({ version: pack.version, ...tool })), close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

async function importModule({ pack, entry }: Pick<FoundPack, "pack" | "entry">) {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = await import(pathToFileURL(entry).href);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError(
      "EXEC_FAILED",
      `pack '${pack}' cannot be loaded: ${why}`,
      { program: entry },
      { cause },
    );
  }
  const { tools, settings } = module;
  if (settings !== undefined && !(settings instanceof z.ZodObject))
    throw unusable(pack, "settings", "expected a z.object(…)");
  if (!Array.isArray(tools) && typeof tools !== "function")
    throw unusable(
      pack,
      "tools",
      "expected an export of this name: a list of tools, or a function that makes it",
    );
  return { tools, settings };
}

const unusable = (pack: string, path: string, message: string) =>
  new ToolError("INVALID_ARGUMENT", `pack '${pack}': ${path}: ${message}`, { issues: [{ path, message }] });

function checkSettings(pack: string, schema: z.ZodObject | undefined, given: unknown = {}): object {
  const { data, error } = (schema ?? z.strictObject({})).safeParse(given);
  if (!error) return data;
  // Not the values: they may be secrets.
  const text = error.issues.map(({ path, message }) => `${path.join(".") || "it"}: ${message}`).join("; ");
  throw unusable(pack, `packs.${pack}.settings`, text);
}

const isFunction = z.custom((value) => typeof value === "function", "expected a function");
const isObjectSchema = z.custom((value) => value instanceof z.ZodObject, "expected a z.strictObject(…)");

const DeclaredAction = z.looseObject({
  summary: z.string().min(1),
  access: z.enum(["read", "write", "admin"]),
  timing: z.enum(TIMINGS),
  intent: z.enum(["inspect", "apply", "verify", "ship"]),
  input: isObjectSchema,
  output: z.custom((value) => value instanceof z.ZodType, "expected a zod schema"),
  examples: z.array(z.looseObject({ title: z.string(), input: z.looseObject({}) })).min(1),
  run: isFunction,
});

const DeclaredTools = z
  .array(
    z.looseObject({
      name: z.string().regex(/^(?!mcp__)[a-z][a-z0-9_]{0,47}$/, "expected lower-case letters, digits and _"),
      summary: z.string().min(1),
      actions: z.record(z.string().regex(/^[a-z][a-z0-9_]*$/), DeclaredAction),
    }),
  )
  .min(1);

/** Mistakes are named when the pack is loaded, not when a tool is called. */
function checkTools(pack: string, made: unknown): readonly Tool[] {
  const { error } = DeclaredTools.safeParse(made);
  // As the schema has found it to be.
  if (!error) return made as readonly Tool[];
  const [first] = error.issues;
  throw unusable(pack, `tools.${first?.path.join(".") ?? ""}`, first?.message ?? "not a list of tools");
}
