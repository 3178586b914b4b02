import type { Dictionary, PackSettings, ServerSettings } from "../config/schema.ts";

/** The parts of the settings that may be secret. */
export interface SecretSettings {
  readonly api_key?: string | null;
  readonly net_search?: { readonly key?: string | undefined };
  readonly oauth_credentials?: unknown;
  readonly env?: Dictionary<string>;
  readonly packs?: Dictionary<PackSettings>;
  readonly mcp_servers?: Dictionary<Pick<ServerSettings, "env" | "headers">>;
}

/** Every value that is secret by its key. */
export function collectSecrets(env: NodeJS.ProcessEnv, settings: SecretSettings = {}): string[] {
  const servers = Object.values(settings.mcp_servers ?? {});
  return [
    ...namedSecrets(env),
    ...namedSecrets(settings.env ?? {}),
    ...(settings.api_key ? [settings.api_key] : []),
    ...(settings.net_search?.key ? [settings.net_search.key] : []),
    ...stringsIn(settings.oauth_credentials),
    ...Object.values(settings.packs ?? {}).flatMap((pack) => secretsIn(pack.settings)),
    ...servers.flatMap((server) => namedSecrets(server.env ?? {})),
    ...servers.flatMap((server) => Object.values(server.headers ?? {}).flatMap(toHeaderSecrets)),
  ];
}

const SECRET_WORDS =
  /(?:^|[_.-])(?:key|apikey|token|secret|password|passwd|passphrase|pass|credentials?|cookie|authorization)s?(?:$|[_.-])/i;

const PLACES = /[_.-](?:path|file|dir|sock)$/i;

/**
 * Whether a value with this name is a secret: API_KEY, github_token, Authorization; not PWD, KEYBOARD or KEY_FILE.
 */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2");
  return SECRET_WORDS.test(words) && !PLACES.test(words);
}

const namedSecrets = (env: NodeJS.ProcessEnv): string[] =>
  Object.entries(env).flatMap(([name, value]) => (value !== undefined && isSecretName(name) ? [value] : []));

/** Texts with the name of a secret, at any depth. */
function secretsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === "string" ? (isSecretName(name) ? [inner] : []) : secretsIn(inner),
  );
}

/** `Bearer abc` is secret as a whole and without its first word. */
const toHeaderSecrets = (value: string): string[] => [value, value.slice(value.indexOf(" ") + 1)];

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
