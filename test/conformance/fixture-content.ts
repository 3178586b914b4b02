import type { ServiceOptions } from "@octant/mcp";
import { z } from "zod";

/** The content that the suite expects in an answer, block by block. */
export const Content = z.object({ content: z.array(z.looseObject({ type: z.string() })) });
export type Content = z.output<typeof Content>;

export const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
export const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

export const text = (...texts: string[]): Content => ({
  content: texts.map((one) => ({ type: "text", text: one })),
});

type ToResult = Exclude<NonNullable<ServiceOptions["answers"]>, string>;

/** The suite compares content, while Octant's own tools return envelopes. */
export const toResult: ToResult = ({ envelope, attachments }) => {
  const media = attachments.map(({ kind, mime, bytes }) => ({
    type: kind,
    data: Buffer.from(bytes).toString("base64"),
    mimeType: mime,
  }));
  if (!envelope.ok) return { content: [{ type: "text", text: envelope.error.message }], isError: true };
  const given = Content.safeParse(envelope.data);
  // A running job has no content yet.
  const { content } = given.success ? given.data : text(JSON.stringify(envelope.data));
  // The suite checks its own blocks.
  return { content: [...(content as never[]), ...media], isError: false };
};
