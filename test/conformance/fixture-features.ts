import type { ServiceOptions } from "@octant/mcp";
import { PIXEL } from "./fixture-content.ts";
import { elicit } from "./fixture-exchange.ts";
import { CONTEXT } from "./fixture-forms.ts";

type Features = Required<Pick<ServiceOptions, "resources" | "prompts" | "completions">>;
type Message = Awaited<ReturnType<Features["prompts"]["get"]>>["messages"][number];

const RESOURCES = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched resource content" },
} as const;

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

/** The resources and prompts of the suite, and a way to report changed prompts. */
export function createFeatures(): Features & { reportPromptsChanged(): void } {
  const listeners = new Set<() => void>();
  return {
    resources: {
      list: async () => ({
        resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({
          uri,
          name: uri.slice("test://".length),
          description: `${uri}, for testing`,
          mimeType,
        })),
      }),
      templates: [
        { uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" },
      ],
      async read(uri) {
        const id = TEMPLATE.exec(uri)?.[1];
        if (id !== undefined) {
          const data = { id, templateTest: true, data: `Data for ID: ${id}` };
          return [{ uri, mimeType: "application/json", text: JSON.stringify(data) }];
        }
        const found = Object.entries(RESOURCES).find(([name]) => name === uri);
        return found && [{ uri, ...found[1] }];
      },
      // They never change, but can be subscribed to.
      subscribe: async (uri) => (Object.hasOwn(RESOURCES, uri) ? () => {} : undefined),
    },
    prompts: {
      list: () => PROMPTS.map(({ get: _get, ...prompt }) => prompt),
      async get(name, args, ctx) {
        const prompt = PROMPTS.find((one) => one.name === name);
        if (!prompt) throw new Error(`${name} is not listed`);
        return { messages: await prompt.get(args, ctx) };
      },
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    completions: async ({ value }) => ["paris", "park", "party"].filter((one) => one.startsWith(value)),
    reportPromptsChanged() {
      for (const listener of listeners) listener();
    },
  };
}

interface FixturePrompt {
  readonly name: string;
  readonly description: string;
  readonly arguments?: { name: string; description: string; required: true }[];
  get(
    args: Readonly<Record<string, string>>,
    ctx: Parameters<Features["prompts"]["get"]>[2],
  ): Message[] | Promise<Message[]>;
}

const says = (text: string): Message => ({ role: "user", content: { type: "text", text } });
const argument = (name: string) => ({ name, description: `${name}, for testing`, required: true }) as const;

const PROMPTS: readonly FixturePrompt[] = [
  {
    name: "test_simple_prompt",
    description: "A simple prompt without arguments",
    get: () => [says("This is a simple prompt for testing.")],
  },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt with required arguments",
    arguments: [argument("arg1"), argument("arg2")],
    get: ({ arg1, arg2 }) => [says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt that includes a resource",
    arguments: [argument("resourceUri")],
    get: ({ resourceUri = "" }) => [
      {
        role: "user",
        content: {
          type: "resource",
          resource: {
            uri: resourceUri,
            mimeType: "text/plain",
            text: "Embedded resource content for testing.",
          },
        },
      },
      says("Please process the embedded resource above."),
    ],
  },
  {
    name: "test_prompt_with_image",
    description: "A prompt that includes a picture",
    get: () => [
      { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
      says("Please analyze the image above."),
    ],
  },
  {
    name: "test_input_required_result_prompt",
    description: "A prompt that asks first",
    async get(_args, { exchange }) {
      const { user_context } = await exchange.request({ user_context: elicit(CONTEXT) });
      return [says(`With this context: ${JSON.stringify(user_context)}`)];
    },
  },
];
