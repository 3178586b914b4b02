import type { EffectiveSettings } from "./config.ts";
import { emptyDictionary } from "./dictionary.ts";

/** The defaults. */
export const defaultSettings = (): EffectiveSettings => ({
  model: DEFAULT_MODEL,
  api_key: null,
  oauth_credentials: null,
  base_url: null,
  custom_instructions: "",
  thinking: null,
  input_mode: "default",
  plain: false,
  status_line: null,
  notifications: { mode: "auto", after_seconds: 10 },
  models: emptyDictionary(),
  max_tokens: null,
  stall_seconds: null,
  hooks: [],
  mcp_servers: emptyDictionary(),
  packs: emptyDictionary(),
  sandbox: { mode: "workspace", allowed_paths: [], network: "on", hide_home: false },
  env: emptyDictionary(),
  audit: { arguments: "hash", keep_bytes: DEFAULT_AUDIT_BYTES },
  net: { allow: [], deny: [], private: false },
  net_search: {},
  vcs: { filters: [], hooks: false },
  language_servers: emptyDictionary(),
  search: { embedder: null, vector_store: "embedded" },
  ui: { browser: null, headless: true, screen: false, max_download_bytes: 1024 * 1024 * 1024 },
  tools: null,
  checkpoints: null,
  modes: emptyDictionary(),
  memory: { shared: false },
  mode: null,
});

/** About a million calls. */
const DEFAULT_AUDIT_BYTES = 512 * 1024 * 1024;
/** HIP-0301 section 4. */
const DEFAULT_MODEL = "claude-sonnet-4-20250514";

/** The default tools. A project can choose among them, but not add any. */
export const DEFAULT_TOOLS = [
  "ws",
  "fs",
  "code",
  "proc",
  "test",
  "vcs",
  "net",
  "ui",
  "search",
  "job",
] as const;
