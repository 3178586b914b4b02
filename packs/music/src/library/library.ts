import { type BinaryPart, type Context, ofKind, type PackContext, ToolError, Uri } from "@octant/core";
import type { fs, workspaceTools } from "@octant/tools";
import { z } from "zod";
import { tooLarge } from "../malformed.ts";
import type { Settings } from "../settings.ts";

type Tools = ReturnType<typeof fs | typeof workspaceTools.artifact | typeof workspaceTools.graph>;

const MAX_SOURCE_CHARS = 4_096;
/** Where music comes from. */
export const Source = ofKind("subject", z.string().min(1).max(MAX_SOURCE_CHARS)).describe(
  "artifact_…, sha256:… of stored content, or a file",
);
export const Save = Uri.optional().describe("Also write it to this new file");

/** A stored result. */
export const Made = z.object({
  artifact_id: z.string(),
  name: z.string(),
  mime: z.string(),
  hash: z.string(),
  size: z.int(),
  ref: z.string().describe("Readable with fs.read"),
  tags: z.array(z.string()),
  parents: z.array(z.string()),
});
export type Made = z.output<typeof Made>;

export interface Loaded {
  readonly bytes: Uint8Array;
  readonly name: string;
  /** The artifact that it came from. */
  readonly parents: readonly string[];
}

interface Result {
  readonly name: string;
  readonly mime: string;
  readonly tags: readonly string[];
  readonly parents: readonly string[];
  readonly save?: string | undefined;
}

export type Library = ReturnType<typeof createLibrary>;

const PAGE_BYTES = 4 * 1024 * 1024;

/** Reads and stores music through Octant's own tools, so that their permissions hold. */
export function createLibrary(context: Pick<PackContext<Settings>, "client">) {
  const clientOf = (ctx: Context) => context.client<Tools>(ctx);

  async function load(source: string, limit: number, ctx: Context): Promise<Loaded> {
    if (!source.startsWith("artifact_")) {
      const uri = source.startsWith("sha256:") ? `cas:${source}` : source;
      const name = source.startsWith("sha256:") ? "stored" : (source.split("/").at(-1) ?? source);
      return { bytes: await read(uri, limit, ctx), name, parents: [] };
    }
    const { artifact } = await clientOf(ctx).artifact.get({
      artifact_id: source,
      max_bytes: 1,
      as: "base64",
    });
    const bytes = await read(`cas:${artifact.hash}`, limit, ctx);
    return { bytes, name: artifact.name, parents: [artifact.artifact_id] };
  }

  async function read(uri: string, limit: number, ctx: Context): Promise<Uint8Array> {
    const pages: Buffer[] = [];
    let first: string | undefined;
    for (let at = 0; ; at += PAGE_BYTES) {
      const range = { start: { line: 0, col: at }, end: { line: 0, col: at + PAGE_BYTES } };
      const page = await clientOf(ctx).fs.read({ uri, range, encoding: "base64", max_bytes: PAGE_BYTES });
      const { base64 = "", size = 0, hash } = FilePage.parse(page);
      if (size > limit) throw tooLarge(uri, limit, size);
      first ??= hash;
      if (hash !== undefined && first !== undefined && hash !== first)
        throw new ToolError("CONFLICT", `${uri} changed while it was read; read it again`, {
          expected: first,
          actual: hash,
        });
      pages.push(Buffer.from(base64, "base64"));
      if (at + PAGE_BYTES >= size) return Buffer.concat(pages);
    }
  }

  /** Stores a result with its origin, names it in the graph, and writes it to a file if asked to. */
  async function keep(result: Result, content: Uint8Array | BinaryPart, ctx: Context): Promise<Made> {
    const client = clientOf(ctx);
    const { name, mime, save } = result;
    const upload = content instanceof Uint8Array ? toPart(content, mime) : content;
    const fields = { name, mime, tags: [...result.tags], parents: [...result.parents] };
    const { artifact } = await client.artifact.upload(fields, { upload });
    await link(artifact, ctx);
    const ref = `cas:${artifact.hash}`;
    if (save !== undefined) {
      const bytes = content instanceof Uint8Array ? content : await read(ref, artifact.size, ctx);
      const written = {
        uri: save,
        content: Buffer.from(bytes).toString("base64"),
        encoding: "base64" as const,
      };
      await client.fs.write(written);
    }
    return Made.parse({ ...artifact, ref });
  }

  /** tune ← MIDI ← WAV: each name is an identity, bound to all artifacts of that name. */
  async function link(artifact: Pick<Made, "artifact_id" | "name" | "parents">, ctx: Context): Promise<void> {
    const { graph } = clientOf(ctx);
    const { identity } = await graph.bind({ name: artifact.name, targets: [artifact.artifact_id] });
    for (const target of artifact.parents) {
      const { identities } = await graph.find({ target });
      for (const { identity_id } of identities)
        await graph.connect({ from: identity.identity_id, to: identity_id, kind: "made_from" });
    }
  }

  return { load, keep };
}

/** The part of fs.read's answer for one file that counts here. */
const FilePage = z.object({
  base64: z.string().optional(),
  size: z.int().optional(),
  hash: z.string().optional(),
});

const toPart = (bytes: Uint8Array, mime: string): BinaryPart => ({
  mime,
  size: bytes.length,
  async *read() {
    yield bytes;
  },
});

const MAX_NAME_CHARS = 80;

/** A file name from a title, which may contain anything. */
export function toName(title: string, extension: string): string {
  const plain = title.replaceAll(/[^\p{L}\p{N} _-]/gu, "").trim();
  return `${plain.slice(0, MAX_NAME_CHARS) || "untitled"}.${extension}`;
}

/** The name of what is made from it: `Scale.mid` becomes `Scale.wav`. */
export const renamed = (name: string, extension: string): string =>
  toName(name.replace(/\.[A-Za-z0-9]{1,8}$/, ""), extension);
