import { type JsonSchema, toInputSchema } from "./schema.ts";
import { itemsOf, outlineOf } from "./schema-outline.ts";
import type { AnyAction, Tool } from "./tool.ts";

/** The manual of a tool, as Markdown; everything in it is read from the declaration. */
export function renderHelp(tool: Tool): string {
  const actions = Object.entries(tool.actions).map(([name, act]) => renderAction(tool.name, name, act));
  return [`# ${tool.name}`, tool.summary, ...actions].join("\n\n");
}

export function renderAction(tool: string, name: string, act: AnyAction): string {
  const facts = [
    act.access,
    act.timing,
    `intent ${act.intent}`,
    ...(act.target === "global" ? ["global"] : []),
  ];
  const examples = act.examples.map(
    ({ title, input }) => `- ${title}: \`${JSON.stringify({ action: name, ...input })}\``,
  );
  return [
    `## ${tool}.${name}`,
    act.summary,
    `*${facts.join(", ")}*`,
    ...parameterTable(toInputSchema(act)),
    `Examples:\n${examples.join("\n")}`,
    ...(act.errors?.length ? [`May fail with ${act.errors.join(", ")}.`] : []),
  ].join("\n\n");
}

function parameterTable(schema: JsonSchema): string[] {
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const property = typeof value === "boolean" ? {} : value;
    const optional = schema.required?.includes(key) ? "" : "?";
    const outline = outlineOf(property);
    const about = [
      property.description,
      outline && `\`${outline}\``,
      property.default !== undefined && `(default ${JSON.stringify(property.default)})`,
    ];
    return `| \`${key}${optional}\` | ${typeName(property)} | ${escapeCell(about.filter(Boolean).join(" "))} |`;
  });
  return rows.length ? [["| parameter | type | |", "|---|---|---|", ...rows].join("\n")] : [];
}

/** Escapes `*` and `|`, which Markdown would read as emphasis and as the end of the cell. */
const escapeCell = (text: string) => text.replaceAll(/[*|]/g, "\\$&");

function typeName(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  const union = schema.anyOf ?? schema.oneOf;
  if (union)
    return [...new Set(union.map((part) => (typeof part === "boolean" ? "any" : typeName(part))))].join(
      " or ",
    );
  if (schema.type === "array") {
    const items = itemsOf(schema);
    return `list of ${typeof items === "object" ? typeName(items) : "any"}`;
  }
  return [schema.type ?? "any"].flat().join(" or ");
}
