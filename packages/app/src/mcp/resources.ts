import { type Attachment, type ErrorCode, type Registry, type StreamChunk, ToolError } from "@octant/core";
import type { Asking, CallFor, FeatureContext, OutputOf, ResourceSource } from "./calls.ts";
import type { Following } from "./following.ts";

type Content = NonNullable<Awaited<ReturnType<ResourceSource["read"]>>>[number];
type Resource = Awaited<ReturnType<ResourceSource["list"]>>["resources"][number];

/** A client inserts a resource as a whole, so it must not fill the conversation. */
const MAX_RESOURCE_BYTES = 1024 * 1024;
const PAGE = 200;
const MAX_DEPTH = 1_000;
const MAX_JOBS = 20;

/** To the client these are indistinguishable from a resource that does not exist. */
const NOT_THERE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "NOT_FOUND",
  "NOT_A_FILE",
  "OUTSIDE_WORKSPACE",
  "INVALID_ARGUMENT",
  "UNKNOWN_TOOL",
  "UNKNOWN_ACTION",
]);

const MANUAL = /^octant:\/\/manual(?:\/([^/]+))?(?:\/([^/]+))?$/;
export const JOB = /^octant:\/\/job\/([^/]+)$/;
const FILE_OR_REF = /^(?:file:\/\/\/|blob:|stdout:|stderr:)/;

const TEMPLATES = [
  ["file", "file:///{+path}", "A file of the workspace"],
  ["manual", "octant://manual/{tool}", "The manual of a tool"],
  ["manualAction", "octant://manual/{tool}/{action}", "The manual of one action"],
  ["job", "octant://job/{job_id}", "The output of a job so far, and its result"],
  ["stdout", "stdout:{proc_id}", "Standard output of a process"],
  ["stderr", "stderr:{proc_id}", "Standard error of a process"],
  ["blob", "blob:sha256:{hash}", "Stored content, such as an earlier version of a file"],
] as const;

/** Files, refs, job logs and the manual, all read by the tools themselves. */
export function createResources(registry: Registry, call: CallFor, following: Following): ResourceSource {
  const has = (tool: string, action: string) => hasAction(registry, tool, action);
  const listJobs = async (ctx: FeatureContext): Promise<Resource[]> => {
    if (!has("job", "list")) return [];
    const { jobs } = (await call(ctx, "job", "list", { limit: MAX_JOBS })).data;
    return jobs.map(({ job_id, tool, action, state }) => ({
      uri: `octant://job/${job_id}`,
      name: job_id,
      description: `Output of ${tool}.${action}; ${state}`,
      mimeType: "text/plain",
    }));
  };
  const listFiles = async (ctx: FeatureContext, cursor: string | undefined) => {
    if (!has("fs", "list")) return { resources: [] };
    const { data, paging } = await call(ctx, "fs", "list", {
      kind: "file",
      depth: MAX_DEPTH,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    const resources = data.entries.map(toFileResource);
    return { resources, ...(paging.cursor !== null && { nextCursor: paging.cursor }) };
  };
  return {
    async list(cursor, ctx) {
      const files = await listFiles(ctx, cursor);
      if (cursor !== undefined) return files;
      const manual = registry.list().map(({ name, summary }) => toManualResource(name, summary));
      return { ...files, resources: [...manual, ...(await listJobs(ctx)), ...files.resources] };
    },
    templates: TEMPLATES.map(([name, uriTemplate, description]) => ({ uriTemplate, name, description })),
    read: (uri, ctx) => unlessNotThere(readResource(uri, ctx, call, registry)),
    ...following,
  };
}

const hasAction = (registry: Registry, tool: string, action: string): boolean =>
  registry.get(tool)?.actions[action] !== undefined;

/** undefined for a resource that does not exist to the client. */
export async function unlessNotThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (cause) {
    if (cause instanceof ToolError && NOT_THERE.has(cause.code)) return undefined;
    throw cause;
  }
}

const toFileResource = ({ uri, size }: { uri: string; size: number }): Resource => ({
  uri,
  name: decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1)),
  size,
});

const toManualResource = (tool: string, summary: string): Resource => ({
  uri: `octant://manual/${tool}`,
  name: `manual-${tool}`,
  title: `Manual of ${tool}`,
  description: summary,
  mimeType: "text/markdown",
});

/** undefined when the URI is not that of a resource. */
export async function readResource(
  uri: string,
  ctx: Asking,
  call: CallFor,
  registry: Registry,
): Promise<Content[] | undefined> {
  const manual = MANUAL.exec(uri);
  if (manual) {
    const [, tool, action] = manual;
    const { data } = await readManual(tool, action, ctx, call, registry);
    return [{ uri, mimeType: "text/markdown", text: data.markdown }];
  }
  const job_id = JOB.exec(uri)?.[1];
  if (job_id !== undefined) {
    const { data } = await call(ctx, "job", "poll", { job_id, from_seq: 0, wait: 0 });
    return [{ uri, mimeType: "text/plain", text: toLog(data) }];
  }
  if (!FILE_OR_REF.test(uri)) return undefined;
  const { data, attachments } = await call(ctx, "fs", "read", { uri, max_bytes: MAX_RESOURCE_BYTES });
  return [toFileContent(uri, data, attachments)];
}

/** ws has the manual of all tools; without it each tool has its own. */
const readManual = (
  tool: string | undefined,
  action: string | undefined,
  ctx: Asking,
  call: CallFor,
  registry: Registry,
) =>
  hasAction(registry, "ws", "help")
    ? call(
        ctx,
        "ws",
        "help",
        tool === undefined ? {} : { tool: action === undefined ? tool : `${tool}.${action}` },
      )
    : // Every tool has this action, ours and others.
      call(ctx, (tool ?? "") as "fs", "help", action === undefined ? {} : { about: action });

function toFileContent(
  uri: string,
  file: OutputOf<"fs", "read">,
  attachments: readonly Attachment[],
): Content {
  const { text, base64, tail = "", truncated, omitted, size = 0, mime } = file;
  const [picture] = attachments;
  if (picture) return { uri, mimeType: picture.mime, blob: Buffer.from(picture.bytes).toString("base64") };
  if (text === undefined || base64 !== undefined) {
    // A part of a binary file is useless.
    if (truncated) throw tooLarge(size);
    return { uri, mimeType: mime ?? "application/octet-stream", blob: base64 ?? "" };
  }
  const mimeType = mime ?? "text/plain";
  if (!truncated) return { uri, mimeType, text };
  const place = omitted ? `${omitted.bytes} bytes, from line ${omitted.start.line + 1} on` : "the rest";
  const whole = `${text}\n[left out: ${place}; fs.read has them by range]\n${tail}`;
  return { uri, mimeType, text: whole, _meta: { "octant/truncated": true, "octant/size": size } };
}

const tooLarge = (actual: number) =>
  new ToolError("TOO_LARGE", `it has ${actual} bytes; fs.read reads parts of it`, {
    limit: MAX_RESOURCE_BYTES,
    actual,
    what: "bytes of a resource",
  });

function toLog({ job, events = [], result }: OutputOf<"job", "poll">): string {
  // Bytes are not text; every other chunk is a progress text of the job.
  const texts = events.map(({ chunk }) => toWords(chunk as StreamChunk | undefined));
  const end = result === undefined ? [] : [JSON.stringify(result)];
  return [...texts.filter(Boolean), `[${job.tool}.${job.action} is ${job.state}]`, ...end].join("\n");
}

function toWords(chunk: StreamChunk | undefined): string {
  if (chunk?.kind === "log") return chunk.line;
  if (chunk?.kind === "text") return chunk.text;
  if (chunk?.kind === "missing") return chunk.bytes ? `[… ${chunk.bytes} bytes left out]` : "[…]";
  return chunk?.kind === "progress" ? (chunk.message ?? "") : "";
}
