import type { Envelope, ErrorBody } from "../envelope.ts";
import { ownAction } from "../lookup.ts";
import type { Registry } from "../registry.ts";
import { describeData, linesOf, toShown } from "./plain-data.ts";
import { type ActionText, joinText, type Reader } from "./text.ts";

/** Turns answers into the text that a model reads. */
export type ToText = (envelope: Envelope) => string;

/** `roots` are the URIs of the workspace; paths are shown from the first. Handles in `without` are left out. */
export function createToText(
  registry: Pick<Registry, "get">,
  roots: readonly string[],
  without: readonly string[] = [],
): ToText {
  const describe = createDescribe(registry, roots);
  const isShown = ([name]: readonly [string, unknown]) => !without.includes(name);
  return (envelope) => {
    const { paging, job_id } = envelope.meta;
    const { cursor, more } = paging;
    const text = describe(envelope);
    if (!envelope.ok) return joinText(text);
    const { notes, body } = text;
    const handles = Object.fromEntries(Object.entries(text.handles ?? {}).filter(isShown));
    return joinText({
      body,
      notes: [...(notes ?? []), more && "more follows"],
      handles: { ...handles, ...(more && { cursor }), job: job_id },
    });
  };
}

/** The content of an answer apart from the facts about it; paging and job are left to the caller. */
export type Describe = (envelope: Envelope) => ActionText;

/** As `createToText`, for readers that show the content and the facts in different places. */
export function createDescribe(registry: Pick<Registry, "get">, roots: readonly string[]): Describe {
  const path = createPaths(roots);
  const toText = (envelope: Envelope) => createToText(registry, roots)(envelope);
  return (envelope) => {
    const { meta } = envelope;
    const reader: Reader = { path, backend: meta.backend, envelope: toText };
    if (!envelope.ok) return describeError(envelope.error, reader);
    const { data } = envelope;
    const tool = registry.get(meta.tool);
    const act = tool && ownAction(tool, meta.action);

    // A job that was only started answers with its handle instead of the action's data.
    const own = isJobStarted(data, meta.job_id) ? undefined : act?.text?.(data, reader);
    const text = own ? withCaveats(own, data) : describeData(data, reader);
    if (meta.left_out === undefined) return text;
    return { ...text, notes: [...(text.notes ?? []), `left out: the files of ${meta.left_out}`] };
  };
}

/** Fields that qualify an answer, whatever its action; no text may leave them out. */
const CAVEATS = ["note", "incomplete", "warning"] as const;

function withCaveats(text: ActionText, data: unknown): ActionText {
  const fields: Readonly<Record<string, unknown>> =
    typeof data === "object" && data !== null ? { ...data } : {};
  const said = joinText(text);
  const left = CAVEATS.map((name) => fields[name]).filter(
    (value): value is string => typeof value === "string" && !said.includes(value),
  );
  return { ...text, notes: [...(text.notes ?? []), ...left] };
}

const isJobStarted = (data: unknown, jobId: string | undefined): boolean =>
  jobId !== undefined &&
  typeof data === "object" &&
  data !== null &&
  "job_id" in data &&
  data.job_id === jobId;

/** Code and message, then the details that the message does not already say. */
function describeError({ code, details, ...error }: ErrorBody, reader: Reader): ActionText {
  // The root itself keeps its URI: "it has ." says nothing.
  const message = error.message.replace(FILE_URI, (uri) => {
    const path = reader.path(uri);
    return path === "." ? uri : path;
  });
  const said = (value: unknown) =>
    typeof value !== "object" &&
    (message.includes(String(value)) || message.includes(toShown(value, reader)));
  const left = Object.entries(details).flatMap(([name, value]): [string, unknown][] => {
    if (said(value)) return [];
    if (!Array.isArray(value)) return [[name, value]];
    const rest = value.filter((item) => !said(item) && !(isIssue(item) && message.includes(item.message)));
    return rest.length > 0 ? [[name, rest]] : [];
  });
  return { body: [`${code}: ${message}`, ...linesOf(Object.fromEntries(left), reader)].join("\n") };
}

const FILE_URI = /file:\/\/\/[^\s;,'"()]+/g;

const isIssue = (item: unknown): item is { readonly message: string } =>
  typeof item === "object" && item !== null && "message" in item && typeof item.message === "string";

/** A path that any action accepts unchanged; where there is none, the URI. */
function createPaths([first = ""]: readonly string[]): Reader["path"] {
  const root = `${first.replace(/\/$/, "")}/`;
  return (uri) => {
    if (uri === first || uri === root) return ".";
    if (first === "" || !uri.startsWith(root)) return uri;
    const path = decodePath(uri.slice(root.length));
    if (path === undefined) return uri;
    return SCHEME.test(path) ? `./${path}` : path;
  };
}

const SCHEME = /^[a-z][a-z0-9+.-]+:/i;

/** Undefined where the name would not survive in a line of text. */
function decodePath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    const plain = decodeURIComponent(path);
    return /^(?!\s)[^\p{C}%]+(?<!\s)$/u.test(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}
