import type { Settings } from "./schema.ts";

/**
 * The permitted effect of a key in the project and local tiers. The user tier may set everything; `variable` says what
 * the environment may set.
 */
export type Below =
  | "has no effect"
  | "overrides"
  | "adds to the user's"
  | "narrows only"
  | "needs trust"
  | "ignored, with a warning";

export interface KeyInfo {
  readonly summary: string;
  readonly below: Below;
  /** The behaviour before the folder is trusted, or other details. */
  readonly note?: string;
  readonly variable?: string;
}

/** One row per settings key: the JSON Schema and the reference are generated from it. */
export const KEYS = {
  $schema: { summary: "Where editors find the JSON Schema of this file", below: "has no effect" },
  model: { summary: "The model that the agent talks to", below: "overrides", variable: "HANZO_MODEL" },
  api_key: {
    summary: "The key for the model's provider",
    below: "ignored, with a warning",
    variable: "HANZO_API_KEY",
  },
  oauth_credentials: { summary: "Tokens of a sign-in, by provider", below: "ignored, with a warning" },
  base_url: { summary: "Another address of the model's provider", below: "ignored, with a warning" },
  custom_instructions: {
    summary: "Text for the system prompt",
    below: "needs trust",
    note: "adds to the user's",
  },
  thinking: { summary: "How much the model thinks: off, low, medium or high", below: "overrides" },
  input_mode: { summary: "Keys of the input line", below: "overrides" },
  plain: { summary: "The agent writes lines without redraws, for screen readers", below: "overrides" },
  status_line: {
    summary:
      "A shell command whose output is shown above the status line; it reads the JSON of Claude Code's `statusLine` on stdin",
    below: "needs trust",
  },
  notifications: {
    summary:
      "Desktop notifications of the agent in a terminal: `mode` (`auto` or `off`), and `after_seconds` without a key where the terminal does not report its focus; 10 when absent",
    below: "ignored, with a warning",
  },
  models: {
    summary: "Window, output limit, price and abilities of models, by the beginning of their ids",
    below: "ignored, with a warning",
  },
  max_tokens: { summary: "The token budget of a conversation", below: "overrides" },
  stall_seconds: {
    summary: "How long a model may send nothing before the request is retried; 60 when absent",
    below: "ignored, with a warning",
  },
  permissions: {
    summary: "A map from tool pattern to allow, deny or prompt, or a list of rules",
    below: "needs trust",
    note: "deny and prompt rules always count",
  },
  hooks: {
    summary: "Shell commands that run before a call (and may deny it) or after it",
    below: "needs trust",
  },
  mcp_servers: {
    summary: "MCP servers by name: a command, or a URL",
    below: "needs trust",
    note: "`disabled: true` always counts",
  },
  packs: {
    summary:
      "Packs of tools by name: `from` (a folder, or an npm package that `octant pack add` installed), `settings`, `in_process`, `disabled`",
    below: "needs trust",
    note: "`from` is a folder of the project; its content is trusted, too",
  },
  sandbox: {
    summary: "Isolation of everything that is started",
    below: "narrows only",
    note: "a stricter mode, fewer paths, less network, a stronger level, lower limits",
  },
  env: { summary: "Variables for the commands that are started", below: "needs trust" },
  audit: {
    summary:
      "How much of a call's arguments the audit log stores, and the size above which its oldest records are removed",
    below: "ignored, with a warning",
  },
  net: {
    summary: "Hosts that `net` may and may not reach",
    below: "narrows only",
    note: "`deny` adds, `private` can only become false, `allow` is ignored",
    variable: "OCTANT_NET_ALLOW",
  },
  net_search: {
    summary:
      "The web search: provider (brave, tavily, exa or searxng for `net.search`, or model for the own search of the model's provider), key, url. Variables do as well: BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY, SEARXNG_URL",
    below: "ignored, with a warning",
  },
  vcs: {
    summary: "Repository filters by name, and hooks, that git may run",
    below: "ignored, with a warning",
  },
  language_servers: { summary: "Commands of language servers by language", below: "needs trust" },
  search: {
    summary: "The embedding model of `search` and where vectors are stored",
    below: "ignored, with a warning",
  },
  ui: {
    summary:
      "The browser that `ui` drives (a program, a channel such as chrome, or the URL of one that runs), whether it is headless, how many bytes of downloads it may hold, and whether `ui` may act on your screen",
    below: "ignored, with a warning",
    variable: "OCTANT_SCREEN",
  },
  tools: {
    summary: "The tools that are offered",
    below: "narrows only",
    note: "some of the user's, or of those that are offered by default",
    variable: "OCTANT_TOOLS",
  },
  checkpoints: {
    summary:
      "Checkpoint files before commands and turns, so that they can be undone; by default on in the agent, off in a server",
    below: "ignored, with a warning",
    variable: "OCTANT_CHECKPOINTS",
  },
  modes: {
    summary:
      "Developer modes of your own for `mode` and `/mode`, by name: summary, prompt, tools, what they allow, limits",
    below: "ignored, with a warning",
  },
  memory: {
    summary:
      "`shared`: store the project's memory as Markdown in `.hanzo/memory/`, where it can be committed",
    below: "overrides",
  },
  mode: {
    summary:
      "The mode of new sessions: `ask`, `edits`, `sandbox` or `plan`; or allow only reading and one intent, for good",
    below: "narrows only",
    note: "two different intents leave `inspect`, and no project takes questions away",
    variable: "OCTANT_MODE",
  },
} as const satisfies Record<keyof Settings, KeyInfo>;
