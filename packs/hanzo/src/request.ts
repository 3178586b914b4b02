import { ToolError } from "@octant/core";
import { z } from "zod";
import { type Operation, pathParameters } from "./operation.ts";

/** A request as it is sent, without the sign-in. */
export const PlainRequest = z.object({
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown().optional(),
});
export type PlainRequest = z.output<typeof PlainRequest>;

/** Checks the parameters, and makes the request of an operation. */
export function toRequest(
  base: string,
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
): PlainRequest {
  const { name, method, path, query } = operation;
  const checked = operation.parameters.safeParse(given);
  if (!checked.success) throw invalidParameters(name, checked.error);
  const values = { ...Object(checked.data) } as Record<string, unknown>; // Both kinds of operations describe an object.
  const take = (key: string): unknown => {
    const value = values[key];
    delete values[key];
    return value;
  };
  const names = pathParameters(path);
  const filled = names.reduce((text, key) => text.replaceAll(`{${key}}`, toSegment(key, take(key))), path);
  const url = new URL(`${base.replace(/\/+$/, "")}${filled}`);
  for (const key of query) for (const value of toTexts(take(key))) url.searchParams.append(key, value);
  // The operations of a description name their body; the others take the rest as one.
  const body = "body" in values ? values["body"] : Object.keys(values).length > 0 ? values : undefined;
  const hasBody = method !== "get" && body !== undefined;
  return {
    method: method.toUpperCase(),
    url: url.href,
    headers: { accept: "application/json", ...(hasBody && { "content-type": "application/json" }) },
    ...(hasBody && { body }),
  };
}

/** One segment of the path: a value cannot lead to another operation. */
function toSegment(name: string, value: unknown): string {
  const text = String(value);
  if (text === "" || text === "." || text === "..")
    throw invalid([{ path: `parameters.${name}`, message: `'${text}' is not a name` }]);
  return encodeURIComponent(text);
}

const toTexts = (value: unknown): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)];

const invalidParameters = (operation: string, { issues }: z.ZodError): ToolError =>
  invalid(
    issues.map(({ path, message }) => ({
      path: ["parameters", ...path].join("."),
      message: `${operation}: ${message}`,
    })),
  );

const invalid = (issues: { path: string; message: string }[]): ToolError =>
  new ToolError("INVALID_ARGUMENT", issues.map(({ path, message }) => `${path}: ${message}`).join("; "), {
    issues,
  });
