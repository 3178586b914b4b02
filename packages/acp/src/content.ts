import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { ImagePart, TextPart, UserPart } from "@octant/agent";

/** Converts the person's message for the agent. Throws for content types that were not advertised. */
export const toUserParts = (blocks: readonly ContentBlock[]): readonly UserPart[] => blocks.map(toUserPart);

function toUserPart(block: ContentBlock): UserPart {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return { type: "image", mime: block.mimeType, data: block.data };
    case "resource_link":
      return text(`\n[${block.name}](${block.uri})\n`);
    case "resource":
      return toEmbedded(block.resource);
    default:
      throw RequestError.invalidParams(
        undefined,
        `content of type '${block.type}' is not supported; send text, images or resources`,
      );
  }
}

function toEmbedded(resource: Extract<ContentBlock, { type: "resource" }>["resource"]): TextPart | ImagePart {
  if ("text" in resource) return text(`\nContent of ${resource.uri}:\n${resource.text}\n`);
  const mime = resource.mimeType ?? "";
  if (mime.startsWith("image/")) return { type: "image", mime, data: resource.blob };
  throw RequestError.invalidParams(
    undefined,
    `the resource ${resource.uri} is neither text nor an image; send a resource_link instead`,
  );
}

const text = (content: string): TextPart => ({ type: "text", text: content });

export const toBlock = (part: UserPart): ContentBlock =>
  part.type === "image"
    ? { type: "image", mimeType: part.mime, data: part.data }
    : { type: "text", text: part.text };
