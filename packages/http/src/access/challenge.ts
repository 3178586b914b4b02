/** The challenge to a refused client, as specified by RFC 6750 and the MCP authorisation page. */
export interface Challenge {
  readonly error?: "invalid_token" | "insufficient_scope";
  readonly description?: string;
  readonly scopes?: readonly string[];
  /** The URL of the protected resource metadata (RFC 9728). */
  readonly metadataUrl?: string | undefined;
}

export function toWwwAuthenticate({ error, description, scopes, metadataUrl }: Challenge): string {
  const parameters = {
    error,
    error_description: description,
    scope: scopes?.join(" "),
    resource_metadata: metadataUrl,
  };
  const parts = Object.entries(parameters).flatMap(([name, value]) => (value ? [`${name}="${value}"`] : []));
  return parts.length > 0 ? `Bearer ${parts.join(", ")}` : "Bearer";
}
