import { z } from "zod";
import { type Group, METHODS, type Method, type Operation, pathParameters } from "./operation.ts";

const Parameter = z.looseObject({
  name: z.string().min(1),
  in: z.enum(["path", "query", "header", "cookie"]),
  required: z.boolean().optional(),
  schema: z.looseObject({}).optional(),
});
type Parameter = z.output<typeof Parameter>;

const Described = z.looseObject({
  operationId: z.string().optional(),
  summary: z.string().optional(),
  tags: z.array(z.string()).default([]),
  parameters: z.array(z.unknown()).default([]),
  requestBody: z.unknown().optional(),
});

/** The parts of a description (OpenAPI 3.0 and 3.1) that we read. */
const Description = z.looseObject({
  openapi: z.string().regex(/^3\./, "expected OpenAPI 3"),
  paths: z.record(
    z.string().startsWith("/"),
    z.looseObject({ parameters: z.array(z.unknown()).default([]) }),
  ),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()).default({}) }).prefault({}),
});

/** The operations that a server describes. Throws a ZodError, or an Error that names the operation, for what it cannot read. */
export function readOpenApi(given: unknown): readonly Operation[] {
  const description = Description.parse(given);
  const definitions = renamed(description.components.schemas);
  return Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => {
      const place = `${method.toUpperCase()} ${path}`;
      try {
        const described = Described.parse(item[method]);
        const found = [...item.parameters, ...described.parameters].map((one) =>
          Parameter.parse(resolve(given, one)),
        );
        const body = bodyOf(resolve(given, described.requestBody));
        const { operationId = toName(method, path), summary = place, tags } = described;
        const schema = toSchema(found, body, pathParameters(path));
        const parameters = z.fromJSONSchema({
          ...renamed(schema),
          $defs: definitions,
        } as z.core.JSONSchema.JSONSchema);
        const query = found.filter((one) => one.in === "query").map(({ name }) => name);
        return {
          name: operationId,
          group: groupOf(method, path, tags),
          summary,
          method,
          path,
          parameters,
          query,
        };
      } catch (cause) {
        throw new Error(`${place}: ${cause instanceof z.ZodError ? z.prettifyError(cause) : String(cause)}`, {
          cause,
        });
      }
    }),
  );
}

/** One object for all parameters; those of headers and cookies cannot be given. */
function toSchema(found: readonly Parameter[], body: Body | undefined, inPath: readonly string[]): object {
  const given = found.filter((one) => one.in === "path" || one.in === "query");
  const undeclared = inPath.filter((name) => !given.some((one) => one.name === name));
  if (undeclared.length > 0)
    throw new Error(`its path has parameters that are not described: ${undeclared.join(", ")}`);
  const unsendable = found.filter((one) => one.required && !given.includes(one));
  if (unsendable.length > 0)
    throw new Error(`it needs the headers or cookies ${unsendable.map(({ name }) => name).join(", ")}`);
  const fields = given.map(({ name, schema = {} }) => [name, schema] as const);
  const names = given.filter((one) => one.required || one.in === "path").map(({ name }) => name);
  return {
    type: "object",
    properties: { ...Object.fromEntries(fields), ...(body && { body: body.schema }) },
    required: [...names, ...(body?.required ? ["body"] : [])],
    additionalProperties: false,
  };
}

interface Body {
  readonly schema: unknown;
  readonly required: boolean;
}

function bodyOf(described: unknown): Body | undefined {
  if (described === undefined) return undefined;
  const { content = {}, required = false } = Object(described);
  const json = content["application/json"];
  if (json === undefined) throw new Error("it takes no JSON");
  return { schema: json.schema ?? {}, required };
}

/** By the method, then by the tags or the first word of the path. */
function groupOf(method: Method, path: string, tags: readonly string[]): Group {
  const words = [...tags, path.split("/").find((part) => part !== "" && !/^v\d/.test(part)) ?? ""];
  const isAbout = (pattern: RegExp) => words.some((word) => pattern.test(word));
  if (method === "get") return isAbout(/^(auth|iam|users?|me|account|organizations?)$/i) ? "auth" : "cloud";
  return isAbout(/^(nodes?|machines?|servers?|clusters?)$/i) ? "node" : "deploy";
}

const toName = (method: Method, path: string): string =>
  [method, ...path.split(/[^A-Za-z0-9]+/).filter(Boolean)].join("_").toLowerCase();

/** Follows a reference within the description. */
function resolve(description: unknown, one: unknown, depth = 0): unknown {
  const reference: unknown = Object(one).$ref;
  if (reference === undefined) return one;
  if (typeof reference !== "string" || !reference.startsWith("#/") || depth > MAX_REFERENCES)
    throw new Error(`the reference ${JSON.stringify(reference)} cannot be followed`);
  const steps = reference
    .slice(2)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = steps.reduce<unknown>(
    (inner, step) => (Object.hasOwn(Object(inner), step) ? Object(inner)[step] : undefined),
    description,
  );
  if (found === undefined) throw new Error(`there is no ${reference}`);
  return resolve(description, found, depth + 1);
}

const MAX_REFERENCES = 16;

/** The schemas with references as JSON Schema has them. */
const renamed = <T extends object>(schemas: T): T =>
  JSON.parse(JSON.stringify(schemas).replaceAll('"#/components/schemas/', '"#/$defs/'));
