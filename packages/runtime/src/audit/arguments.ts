import { hash } from "node:crypto";
import { isSecretName } from "../redact/collect-secrets.ts";
import { REDACTED, type Redact } from "../redact/redactor.ts";

/** The arguments of a call in a record. */
export interface ShownArguments {
  /** SHA-256 of the canonical JSON. */
  readonly arguments_hash: string;
  readonly arguments?: unknown;
  /** The beginning of their JSON, when too long to store whole. */
  readonly arguments_cut?: string;
}

const MAX_ARGUMENT_CHARS = 32 * 1024;
/** A secret cut in two is not found, so this much of a cut text is scanned but not stored. */
const MARGIN_CHARS = 16 * 1024;

export const hashArguments = (input: unknown): ShownArguments => ({
  arguments_hash: `sha256:${hash("sha256", toCanonicalJson(input), "hex")}`,
});

/** In full, but without secrets and up to a limit. */
export function showArguments(input: unknown, redact: Redact): ShownArguments {
  const { value, cut } = showValue(input, redact, MAX_ARGUMENT_CHARS);
  const told = cut === undefined ? { arguments: value } : { arguments_cut: cut };
  return { ...hashArguments(input), ...told };
}

/** The value without secrets, or the beginning of its JSON when that is longer. */
export function showValue(
  input: unknown,
  redact: Redact,
  maxChars: number,
): { readonly value?: unknown; readonly cut?: string } {
  const value = withoutSecrets(input, redact, maxChars);
  const text = toCanonicalJson(value);
  return text.length <= maxChars ? { value } : { cut: text.slice(0, maxChars).toWellFormed() };
}

function withoutSecrets(input: unknown, redact: Redact, maxChars: number): unknown {
  let left = maxChars;
  const show = (text: string): string => {
    // The rest would be cut off anyway.
    if (left <= 0) return "";
    left -= text.length;
    return redactBeginning(text, redact, maxChars);
  };
  // All texts below a name such as `secrets` are secret; the names among them are not.
  const visit = (value: unknown, isSecret: boolean): unknown => {
    if (typeof value === "string") return isSecret ? REDACTED : show(value);
    if (Array.isArray(value)) return value.map((item) => visit(item, isSecret));
    if (typeof value !== "object" || value === null) return value;
    const members = Object.entries(value).map(([key, member]) => [
      show(key),
      visit(member, isSecret || isSecretName(key)),
    ]);
    return Object.fromEntries(members);
  };
  return visit(input, false);
}

function redactBeginning(text: string, redact: Redact, maxChars: number): string {
  if (text.length <= maxChars) return redact(text);
  return `${redact(text.slice(0, maxChars + MARGIN_CHARS)).slice(0, -MARGIN_CHARS)}…`;
}

/** Equal text for equal data, regardless of key order. Undefined values are omitted. */
function toCanonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return toScalar(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if ("toJSON" in value && typeof value.toJSON === "function") return toCanonicalJson(value.toJSON());
  let members = "";
  for (const key of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    members += `${members && ","}${JSON.stringify(key)}:${toCanonicalJson(member)}`;
  }
  return `{${members}}`;
}

/** Values without a JSON form become null, as in arrays of JSON.stringify; a bigint becomes its digits. */
const toScalar = (value: unknown): string =>
  typeof value === "bigint" ? `"${value}"` : (JSON.stringify(value) ?? "null");
