import type { Client, PromptMessage } from "@modelcontextprotocol/client";
import { toPlainText } from "./definitions.ts";
import { type ServerResult, toParts, withinBudget } from "./result.ts";

const MAX_LISTED = 500;
const MAX_NAME_CHARS = 256;
const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_URI_CHARS = 2_000;

/** A server's prompt, which a person can send to the model. */
export interface ServerPrompt {
  readonly server: string;
  /** The server's own name for it. */
  readonly prompt: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
}

export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

/** Content that a server provides under a URI. */
export interface ServerResource {
  readonly server: string;
  /** A URI template, such as `notes://{day}`, when `is_template` is set. */
  readonly uri: string;
  readonly is_template: boolean;
  readonly name: string;
  readonly description: string;
}

export interface Offers {
  readonly prompts: readonly ServerPrompt[];
  readonly resources: readonly ServerResource[];
}

export const NO_OFFERS: Offers = { prompts: [], resources: [] };

/** A server's prompts and resources, without those that are too large or have no plain form. */
export async function listOffers(server: string, client: Client): Promise<Offers> {
  const { prompts, resources } = client.getServerCapabilities() ?? {};
  const [listedPrompts, listed, templates] = await Promise.all([
    prompts ? client.listPrompts() : { prompts: [] },
    resources ? client.listResources() : { resources: [] },
    // A server with resources may not support templates.
    resources ? client.listResourceTemplates().catch(() => NO_TEMPLATES) : NO_TEMPLATES,
  ]);
  return {
    prompts: listedPrompts.prompts.slice(0, MAX_LISTED).flatMap((prompt) => {
      if (!isPromptName(prompt.name)) return [];
      return [
        {
          server,
          prompt: prompt.name,
          description: toShort(prompt.description || prompt.title),
          arguments: (prompt.arguments ?? []).map((one) => ({
            name: toShort(one.name),
            description: toShort(one.description),
            required: one.required === true,
          })),
        },
      ];
    }),
    resources: [
      ...listed.resources.map((one) => ({ ...one, is_template: false })),
      ...templates.resourceTemplates.map((one) => ({ ...one, uri: one.uriTemplate, is_template: true })),
    ]
      .filter(({ uri }) => uri.length <= MAX_URI_CHARS && toPlainText(uri) === uri)
      .slice(0, MAX_LISTED)
      .map(({ uri, is_template, name, title, description }) => ({
        server,
        uri,
        is_template,
        name: toShort(title || name),
        description: toShort(description),
      })),
  };
}

const NO_TEMPLATES = { resourceTemplates: [] };

/** A person types it after "/", so it has no spaces. */
const isPromptName = (name: string): boolean => name.length <= MAX_NAME_CHARS && /^[^\s\p{C}]+$/u.test(name);

const toShort = (text = ""): string =>
  toPlainText(text).trim().slice(0, MAX_DESCRIPTION_CHARS).toWellFormed();

/** The text and pictures of a resource, as a model reads them. */
export async function readResource(client: Client, uri: string, signal: AbortSignal): Promise<ServerResult> {
  const { contents } = await client.readResource({ uri }, { signal });
  const parts = contents.map((resource) => {
    const { mimeType = "" } = resource;
    return "blob" in resource && mimeType.startsWith("image/")
      ? ({ type: "image", data: resource.blob, mimeType } as const)
      : ({ type: "resource", resource } as const);
  });
  return { content: withinBudget(toParts(parts)), is_error: false };
}

/** The messages of a prompt in order. Parts for the model itself are marked. */
export async function getPrompt(
  client: Client,
  name: string,
  values: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ServerResult> {
  const { messages } = await client.getPrompt({ name, arguments: { ...values } }, { signal });
  return { content: withinBudget(messages.flatMap(toMessageParts)), is_error: false };
}

function toMessageParts({ role, content }: PromptMessage): ServerResult["content"] {
  const parts = toParts([content]);
  return role === "user" ? parts : [{ type: "text", text: "Assistant:" }, ...parts];
}
