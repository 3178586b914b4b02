import { type Context, ToolError, Uri } from "@octant/core";
import type { Files } from "@octant/host";
import { z } from "zod";

const MAX_BODY_CHARS = 10 * 1024 * 1024;
const MAX_REF_BYTES = 32 * 1024 * 1024;

/** Plain text, or a value to be encoded. */
export const RequestBody = z
  .union([
    z.string().max(MAX_BODY_CHARS),
    z.strictObject({ json: z.json() }),
    z.strictObject({ form: z.record(z.string(), z.union([z.string(), z.array(z.string())])) }),
    z.strictObject({ ref: Uri }),
  ])
  .describe("Text, or one of these forms");
export type RequestBody = z.output<typeof RequestBody>;

export async function encodeBody(body: RequestBody, files: Files, ctx: Context) {
  if (typeof body === "string") return { bytes: Buffer.from(body), type: "text/plain;charset=UTF-8" };
  if ("json" in body) return { bytes: Buffer.from(JSON.stringify(body.json)), type: "application/json" };
  if ("form" in body)
    return {
      bytes: Buffer.from(encodeForm(body.form)),
      type: "application/x-www-form-urlencoded;charset=UTF-8",
    };
  return { bytes: await readRef(body.ref, files, ctx), type: "application/octet-stream" };
}

const encodeForm = (form: Readonly<Record<string, string | string[]>>): string =>
  new URLSearchParams(
    Object.entries(form).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, value]),
    ),
  ).toString();

async function readRef(uri: string, files: Files, { caller, signal }: Context): Promise<Buffer> {
  const base64Bytes = Math.ceil(MAX_REF_BYTES / 3) * 4;
  const options = {
    owner: caller.id,
    encoding: "base64",
    maxBytes: base64Bytes,
    maxImageBytes: 0,
    signal,
  } as const;
  const { content } = await files.read(uri, options);
  if (!content.truncated) return Buffer.from(content.base64 ?? "", "base64");
  const message = `body.ref has ${content.size} bytes; at most ${MAX_REF_BYTES} can be sent`;
  throw new ToolError("TOO_LARGE", message, { limit: MAX_REF_BYTES, actual: content.size, what: "bytes" });
}
