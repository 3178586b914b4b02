import { createHash } from "node:crypto";
import type { Tool } from "@modelcontextprotocol/client";

const MAX_TOOLS = 500;
const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 4_000;
const MAX_SCHEMA_CHARS = 64 * 1024;
const MAX_SCHEMA_DEPTH = 24;

/** A tool of a server, without content that could deceive a terminal or a model by its form. */
export interface ServerTool {
  /** The server's own name for it. */
  readonly tool: string;
  readonly description: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  /** The server's claim that the tool changes nothing. It is shown but not trusted. */
  readonly claims_read_only: boolean;
  /** The hash of everything the server says about the tool. */
  readonly hash: string;
}

export interface CheckedTools {
  readonly tools: readonly ServerTool[];
  /** Why tools were left out. */
  readonly problems: readonly string[];
}

/** The usable tools of a list; an invalid one is left out without affecting the others. */
export function checkTools(listed: readonly Tool[]): CheckedTools {
  const tools = new Map<string, ServerTool>();
  const problems: string[] = [];
  for (const tool of listed.slice(0, MAX_TOOLS)) {
    const problem =
      problemOf(tool) ?? (tools.has(tool.name) ? "is listed twice; the first counts" : undefined);
    if (problem === undefined) tools.set(tool.name, toServerTool(tool));
    else problems.push(`tool ${JSON.stringify(tool.name.slice(0, SHOWN_CHARS))} ${problem}`);
  }
  if (listed.length > MAX_TOOLS)
    problems.push(`${listed.length - MAX_TOOLS} tools beyond ${MAX_TOOLS} are left out`);
  return { tools: [...tools.values()], problems };
}

const SHOWN_CHARS = 60;

function problemOf({ name, inputSchema }: Tool): string | undefined {
  if (name === "" || name.length > MAX_NAME_CHARS) return `has a name of ${name.length} characters`;
  if (depthOf(inputSchema) > MAX_SCHEMA_DEPTH) return `has a schema deeper than ${MAX_SCHEMA_DEPTH} levels`;
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS)
    return `has a schema of more than ${MAX_SCHEMA_CHARS} characters`;
  return undefined;
}

/** Stops counting beyond the limit. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== "object" || value === null || depth > MAX_SCHEMA_DEPTH) return depth;
  return Object.values(value).reduce<number>(
    (most, inner) => Math.max(most, depthOf(inner, depth + 1)),
    depth,
  );
}

function toServerTool(tool: Tool): ServerTool {
  const { name, title, description = "", inputSchema, annotations } = tool;
  const described = { name, title, description, inputSchema, annotations };
  return {
    tool: name,
    description: toPlainText(description || title || "").slice(0, MAX_DESCRIPTION_CHARS),
    input_schema: toPlainValue(inputSchema) as Record<string, unknown>, // An object stays an object.
    claims_read_only: annotations?.readOnlyHint === true,
    hash: `sha256:${createHash("sha256").update(toCanonical(described)).digest("hex")}`,
  };
}

/** Escape sequences, other controls and invisible characters; tag characters can carry hidden text. */
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)?/gu;
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

export const toPlainText = (text: string): string =>
  text.toWellFormed().replace(/\r\n?/g, "\n").replace(ESCAPES, "").replace(UNSEEN, "");

/** The same value with every string in it, including keys, made plain. */
function toPlainValue(value: unknown): unknown {
  if (typeof value === "string") return toPlainText(value);
  if (Array.isArray(value)) return value.map(toPlainValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [toPlainText(name), toPlainValue(inner)]),
  );
}

/** Equal for equal content, whatever the order of its keys. */
function toCanonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => `${JSON.stringify(name)}:${toCanonical(inner)}`)
    .join(",")}}`;
}
