import type { z } from "zod";

export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** The issues of an input, each with its path and what is expected. */
export const toIssues = (error: z.ZodError, schema: z.ZodObject, input: unknown): Issue[] =>
  error.issues.flatMap((issue) => describe(issue, [], namesAt(schema, issue.path), input));

type ZodIssue = z.core.$ZodIssue;

function describe(
  issue: ZodIssue,
  above: readonly PropertyKey[],
  known: readonly string[],
  input: unknown,
): Issue[] {
  const path = [...above, ...issue.path];
  const toIssue = (message: string): Issue[] => [{ path: path.map(String).join("."), message }];
  if (valueAt(input, path) === undefined && path.length > 0)
    return toIssue(`is required${issue.code === "invalid_value" ? `: ${issue.values.join(" or ")}` : ""}`);
  if (issue.code === "invalid_union") {
    // The discriminator matches none of the alternatives.
    if ("options" in issue && issue.options) return toIssue(`must be ${issue.options.join(" or ")}`);
    // Report the closest alternative: the one that matched deepest, then the one with the fewest issues.
    const [nearest] = [...issue.errors].sort((a, b) => depthOf(b) - depthOf(a) || a.length - b.length);
    const wanted = [...new Set(issue.errors.flat().map(expectedOf).filter(Boolean))];
    if (!nearest || (depthOf(nearest) === 0 && wanted.length > 1))
      return toIssue(`must be ${wanted.join(" or ")}`);
    return nearest.flatMap((one) => describe(one, path, [], input));
  }
  if (issue.code === "unrecognized_keys" && known.length > 0)
    return toIssue(`${issue.message}; valid names: ${known.join(", ")}`);
  return toIssue(issue.message);
}

/** The names that the object at this path may have; none where it is not one object. */
function namesAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  // Every schema of zod is one of its known types.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ("innerType" in def) return namesAt(def.innerType, path);
  const [key, ...rest] = path;
  if (def.type === "array" && key !== undefined) return namesAt(def.element, rest);
  if (def.type !== "object") return [];
  if (key === undefined) return Object.keys(def.shape);
  const next = def.shape[String(key)];
  return next ? namesAt(next, rest) : [];
}

const depthOf = (issues: readonly ZodIssue[]): number => Math.max(...issues.map(({ path }) => path.length));

const expectedOf = (issue: ZodIssue): string =>
  issue.code === "invalid_type" && issue.path.length === 0
    ? `a ${issue.expected}`.replace(/^a (?=[aeiou])/, "an ")
    : "";

const valueAt = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined,
    input,
  );
