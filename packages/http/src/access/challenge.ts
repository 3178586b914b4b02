/** What a client is told when it may not go on, as RFC 6750 and the MCP authorisation page say it. */
export interface Challenge {
  readonly error?: "invalid_token" | "insufficient_scope";
  readonly description?: string;
  readonly scopes?: readonly string[];
  /** Where it is written who gives out tokens (RFC 9728). */
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
