import { z } from "zod";

/** The settings of the web search. */
export interface SearchSettings {
  /** `model`: the own search of the model's provider, which is not a call of ours. */
  readonly provider?: SearchProviderName | "model" | undefined;
  /** Another address of the provider; required for SearXNG, which everyone runs for themselves. */
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

export interface SearchQuery {
  readonly query: string;
  readonly limit: number;
  readonly freshness?: Freshness | undefined;
}

export const FRESHNESS = ["day", "week", "month", "year"] as const;
export type Freshness = (typeof FRESHNESS)[number];

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly published?: string | undefined;
}

interface SearchRequest {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One search API as data: where it is, how a question is sent, and how its answer is read. */
export interface SearchProvider {
  /** Absent where the person runs the server. */
  readonly url?: string;
  /** The variable with the key, or with the address of a server without one. */
  readonly variable: string;
  readonly needsKey: boolean;
  request(query: SearchQuery, key: string): SearchRequest;
  /** Throws a ZodError when the answer has another form. */
  parse(answer: unknown): readonly SearchResult[];
  /** The meaning of a status at this provider. */
  readonly explain?: Readonly<Record<number, string>>;
}

const Text = z
  .string()
  .nullish()
  .transform((text) => text ?? "");

const BraveAnswer = z.object({
  web: z
    .object({ results: z.array(z.object({ title: Text, url: z.string(), description: Text, age: Text })) })
    .optional(),
});
const TavilyAnswer = z.object({
  results: z.array(z.object({ title: Text, url: z.string(), content: Text, published_date: Text })),
});
const ExaAnswer = z.object({
  results: z.array(
    z.object({
      title: Text,
      url: z.string(),
      publishedDate: Text,
      highlights: z.array(z.string()).nullish(),
      text: Text,
    }),
  ),
});
const SearxngAnswer = z.object({
  results: z.array(z.object({ title: Text, url: z.string(), content: Text, publishedDate: Text })),
});

const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS = { day: 1, week: 7, month: 31, year: 366 } as const;

const SEARCH_PROVIDERS = {
  brave: {
    url: "https://api.search.brave.com",
    variable: "BRAVE_API_KEY",
    needsKey: true,
    request: ({ query, limit, freshness }, key) => ({
      path: "/res/v1/web/search",
      query: { q: query, count: String(limit), ...(freshness && { freshness: `p${freshness[0]}` }) },
      headers: { "x-subscription-token": key },
    }),
    parse: (answer) =>
      (BraveAnswer.parse(answer).web?.results ?? []).map(({ title, url, description, age }) => ({
        ...{ title, url, snippet: description, published: age },
      })),
  },
  tavily: {
    url: "https://api.tavily.com",
    variable: "TAVILY_API_KEY",
    needsKey: true,
    request: ({ query, limit, freshness }, key) => ({
      path: "/search",
      body: { query, max_results: limit, ...(freshness && { time_range: freshness }) },
      headers: { authorization: `Bearer ${key}` },
    }),
    parse: (answer) =>
      TavilyAnswer.parse(answer).results.map(({ title, url, content, published_date }) => ({
        ...{ title, url, snippet: content, published: published_date },
      })),
  },
  exa: {
    url: "https://api.exa.ai",
    variable: "EXA_API_KEY",
    needsKey: true,
    request: ({ query, limit, freshness }, key) => ({
      path: "/search",
      body: {
        query,
        numResults: limit,
        contents: { highlights: true },
        ...(freshness && {
          startPublishedDate: new Date(Date.now() - DAYS[freshness] * DAY_MS).toISOString(),
        }),
      },
      headers: { "x-api-key": key },
    }),
    parse: (answer) =>
      ExaAnswer.parse(answer).results.map(({ title, url, publishedDate, highlights, text }) => ({
        ...{ title, url, snippet: highlights?.join(" … ") || text, published: publishedDate },
      })),
  },
  searxng: {
    variable: "SEARXNG_URL",
    needsKey: false,
    request: ({ query, freshness }) => ({
      path: "/search",
      query: { q: query, format: "json", ...(freshness && { time_range: freshness }) },
    }),
    parse: (answer) =>
      SearxngAnswer.parse(answer).results.map(({ title, url, content, publishedDate }) => ({
        ...{ title, url, snippet: content, published: publishedDate },
      })),
    explain: { 403: "add json to search.formats in its settings.yml" },
  },
} as const satisfies Record<string, SearchProvider>;

export type SearchProviderName = keyof typeof SEARCH_PROVIDERS;
// Object.keys widens the keys to string.
export const SEARCH_PROVIDER_NAMES = Object.keys(SEARCH_PROVIDERS) as [
  SearchProviderName,
  ...SearchProviderName[],
];

export interface ChosenProvider {
  readonly name: SearchProviderName;
  readonly provider: SearchProvider;
  readonly url: string;
  readonly key: string;
}

/** The provider of the settings, or the first whose variable is set; a text says what is missing. */
export function chooseSearch(settings: SearchSettings, env: NodeJS.ProcessEnv): ChosenProvider | string {
  const isModel = settings.provider === "model";
  const own: SearchSettings = isModel ? {} : settings;
  const chosen = settings.provider === "model" ? undefined : settings.provider;
  const name = chosen ?? SEARCH_PROVIDER_NAMES.find((one) => env[SEARCH_PROVIDERS[one].variable]);
  if (name === undefined) {
    const variables = SEARCH_PROVIDER_NAMES.map((one) => SEARCH_PROVIDERS[one].variable).join(", ");
    if (isModel)
      return `net_search.provider is "model": anthropic and openai models search with their own web_search tool; for others set one of ${variables}`;
    return `set one of ${variables}, or net_search {"provider": "…"} with key or url in your settings; {"provider": "model"} uses the model's own search`;
  }
  const provider: SearchProvider = SEARCH_PROVIDERS[name];
  const variable = env[provider.variable];
  const key = own.key ?? (provider.needsKey ? variable : "") ?? "";
  const url = own.url ?? provider.url ?? variable;
  if (provider.needsKey && key === "") return `set ${provider.variable}, or net_search.key in your settings`;
  if (url === undefined) return `set ${provider.variable}, or net_search.url in your settings`;
  return { name, provider, url, key };
}
