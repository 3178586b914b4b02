import { z } from "zod";
import { type ArgumentKind, kindOfArgument } from "./argument-kinds.ts";
import { ToolError } from "./errors.ts";
import { type Fields, isFields } from "./fields.ts";

/** Why a rule hides a file; undefined when none does. */
export type Hides = (uri: string) => string | undefined;

/** Replaces a hidden part of an answer while it is filtered. */
const GONE = Symbol("gone");

/**
 * The answer without data about hidden files, found by the paths that the schema declares: such an item is removed from
 * its list. An answer that is about a hidden file as a whole is PERMISSION_DENIED. `onLeftOut` receives the reasons.
 */
export function withoutHidden(
  schema: z.core.$ZodType,
  data: unknown,
  hides: Hides,
  onLeftOut: (reason: string) => void,
): unknown {
  let last = "";
  const filter = createFilter(
    (uri) => {
      const reason = hides(uri);
      if (reason !== undefined) last = reason;
      return reason !== undefined;
    },
    () => onLeftOut(last),
  );
  const kept = filter(schema, data);
  if (kept !== GONE) return kept;
  throw new ToolError("PERMISSION_DENIED", `the answer is about a file that is denied: ${last}`, {
    by: "permission",
    reason: last,
  });
}

/** The error without the names of hidden files, in its message and in lists of its details. */
export function hideInError(cause: unknown, hides: Hides): unknown {
  if (!(cause instanceof ToolError)) return cause;
  let isChanged = false;
  const hide = (value: unknown): unknown => {
    if (typeof value === "string")
      return value.replace(NAME_IN_TEXT, (name) => {
        if (hides(name) === undefined) return name;
        isChanged = true;
        return HIDDEN;
      });
    if (Array.isArray(value)) return value.map(hide).filter((item) => item !== HIDDEN);
    if (!isFields(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hide(inner)]));
  };
  const { code, message, details } = cause;
  // Hiding keeps the shape, so the details still fit the code.
  const hidden = new ToolError(code, String(hide(message)), hide(details) as typeof details, { cause });
  return isChanged ? hidden : cause;
}

const HIDDEN = "…";

/** Names as messages quote them, of files with a folder or an extension. */
const NAME_IN_TEXT = /[^\s'"`(),;]*[\w/][./]\w[^\s'"`(),;]*(?<![.:])/g;

function createFilter(isHidden: (uri: string) => boolean, onDrop: () => void) {
  const filter = (schema: z.core.$ZodType, value: unknown): unknown => {
    const kind = kindOfArgument(schema);
    if (kind && NAMES_FILE.has(kind) && typeof value === "string")
      return isHidden(fileOf(value)) ? GONE : value;
    if (value === undefined || value === null) return value;
    const inner = innerOf(schema, value);
    if (inner) return filter(inner, value);
    if (schema instanceof z.ZodArray && Array.isArray(value)) return filterList(schema.def.element, value);
    if (schema instanceof z.ZodRecord && isFields(value)) return filterRecord(schema, value);
    return schema instanceof z.ZodObject && isFields(value) ? filterObject(schema, value) : value;
  };

  const filterList = (element: z.core.$ZodType, items: readonly unknown[]): readonly unknown[] => {
    const kept = items.map((item) => filter(element, item)).filter((item) => item !== GONE);
    if (kept.length < items.length) onDrop();
    return kept.length < items.length || kept.some((item, at) => item !== items[at]) ? kept : items;
  };

  const filterRecord = ({ def }: z.ZodRecord, record: Fields): Fields => {
    const entries = Object.entries(record).map(
      ([name, value]) => [filter(def.keyType, name), filter(def.valueType, value)] as const,
    );
    const kept = entries.filter((entry) => !entry.includes(GONE));
    if (kept.length < entries.length) onDrop();
    return Object.fromEntries(kept);
  };

  const filterObject = ({ shape }: z.ZodObject, object: Fields): unknown => {
    const changed: Record<string, unknown> = {};
    for (const [name, inner] of Object.entries(shape)) {
      const kept = filter(inner, object[name]);
      if (kept === GONE) return GONE;
      if (kept !== object[name]) changed[name] = kept;
    }
    return Object.keys(changed).length > 0 ? { ...object, ...changed } : object;
  };

  return filter;
}

const NAMES_FILE: ReadonlySet<ArgumentKind> = new Set(["path", "tree", "symbol", "address", "subject"]);

const fileOf = (uri: string): string => uri.replace(/^sym:([^#]*)#.*$/s, "$1");

/** The schema inside a wrapper; of a union, the one that the value fits. */
function innerOf(schema: z.core.$ZodType, value: unknown): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodReadonly)
    return schema.def.innerType;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodCatch)
    return schema.def.innerType;
  if (schema instanceof z.ZodPipe) return schema.def.out;
  if (schema instanceof z.ZodLazy) return schema.def.getter();
  if (!(schema instanceof z.ZodUnion)) return undefined;
  return schema.def.options.find((option) => z.safeParse(option, value).success);
}
