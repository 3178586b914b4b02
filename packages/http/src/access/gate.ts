import type { IncomingMessage } from "node:http";
import type { Caller } from "@octant/core";
import type { HttpRefusal } from "../refusals.ts";
import { createHostCheck, type HostOptions } from "./hosts.ts";
import { createOAuthVerifier, isJwt, type OAuthIdentity, type OAuthOptions } from "./oauth.ts";
import { createRateLimit } from "./rate.ts";
import { scopesOf, toCaller } from "./scopes.ts";
import type { TokenCheck, TokenInfo } from "./tokens.ts";

export interface GateOptions extends HostOptions {
  readonly tokens: TokenCheck;
  readonly oauth?: OAuthOptions;
  /** The id of the served project; tokens for other projects are refused. */
  readonly project?: string;
  readonly requestsPerSecond: number;
  readonly refusalsPerSecond: number;
  readonly log: (line: string) => void;
}

/** lapsed: a fresh token from the authorisation server restores it; revoked is final. */
export type Standing = "good" | "lapsed" | "revoked";

export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/**
 * The access check of every network edge. Nothing of a request is parsed before it passes. `resource` is the URL of
 * the endpoint, once it is known.
 */
export function createGate(options: GateOptions, resource: () => string) {
  const { tokens, oauth, project, requestsPerSecond, refusalsPerSecond, log } = options;
  const requests = createRateLimit(requestsPerSecond);
  const refusals = createRateLimit(refusalsPerSecond);
  /** When the newest token of each caller expires. */
  const lapses = new Map<string, number>();
  let verify: ReturnType<typeof createOAuthVerifier> | undefined;

  const refuse = (request: IncomingMessage, refusal: HttpRefusal): HttpRefusal =>
    refusals.take(request.socket.remoteAddress ?? "") ? refusal : TOO_MANY;
  const challenge = (status: 401 | 403, message: string, details: Challenge): HttpRefusal => {
    const { origin, pathname } = new URL(resource());
    const metadataUrl = oauth && `${origin}${METADATA_PATH}${pathname}`;
    const header = toWwwAuthenticate({ scopes: oauth ? scopesOf(project) : [], ...details, metadataUrl });
    return { status, message, headers: { "www-authenticate": header } };
  };
  const toOwnCaller = (info: TokenInfo) => toCaller(info.id, info.scopes, project);
  const admit = (request: IncomingMessage, caller: Caller | undefined): Caller | HttpRefusal => {
    if (!caller)
      return refuse(
        request,
        challenge(403, "this token is for something else", {
          error: "insufficient_scope",
          scopes: scopesOf(project),
        }),
      );
    return requests.take(caller.id) ? caller : TOO_MANY;
  };
  const refuseToken = (request: IncomingMessage) => {
    const description = "the token is unknown, expired or not for this server";
    return refuse(request, challenge(401, description, { error: "invalid_token", description }));
  };
  const verifyOAuth = async (token: string): Promise<OAuthIdentity | undefined> => {
    if (!oauth || !isJwt(token)) return undefined;
    verify ??= createOAuthVerifier(oauth, oauth.audience ?? resource());
    return verify(token);
  };
  const noteLapse = ({ id, expiresMs }: OAuthIdentity) => {
    if (lapses.size >= MAX_LAPSES)
      for (const [other, ms] of lapses) if (ms <= Date.now()) lapses.delete(other);
    lapses.set(id, Math.max(expiresMs, lapses.get(id) ?? 0));
  };
  const isStillGood = (caller: Caller): boolean => {
    const info = tokens.find(caller.id);
    const now = info && toOwnCaller(info);
    return now?.access === caller.access && now.project === caller.project;
  };
  return {
    /** Why the Host or Origin of the request is not allowed. Needs no token. */
    checkHost: createHostCheck(options),
    /** The caller of the request, by its Authorization header or else by the given token. */
    async identify(request: IncomingMessage, given?: string): Promise<Caller | HttpRefusal> {
      const { authorization } = request.headers;
      const token = authorization === undefined ? given : BEARER.exec(authorization)?.groups?.["token"];
      if (token === undefined)
        return refuse(request, challenge(401, "send a token: Authorization: Bearer <token>", {}));
      try {
        let own = tokens.verify(token);
        if (!own && tokens.refresh) {
          await tokens.refresh(token);
          own = tokens.verify(token);
        }
        if (own) return admit(request, toOwnCaller(own));
        const identity = await verifyOAuth(token);
        if (!identity) return refuseToken(request);
        noteLapse(identity);
        return admit(request, toCaller(identity.id, identity.scopes, project));
      } catch (cause) {
        log(`http: a token could not be checked: ${cause}`);
        return UNCHECKED;
      }
    },
    /** Whether an admitted caller may still call. */
    standingOf(caller: Caller): Standing {
      const lapse = lapses.get(caller.id);
      if (lapse !== undefined) return lapse > Date.now() ? "good" : "lapsed";
      try {
        return isStillGood(caller) ? "good" : "revoked";
      } catch (cause) {
        log(`http: the tokens cannot be read: ${cause}`);
        return "lapsed";
      }
    },
    /** The metadata of RFC 9728; undefined when no authorisation server issues tokens for us. */
    metadata: () =>
      oauth && {
        resource: oauth.audience ?? resource(),
        authorization_servers: [oauth.issuer],
        scopes_supported: scopesOf(project),
        bearer_methods_supported: ["header"],
      },
  };
}

export const isRefusal = (value: Caller | HttpRefusal): value is HttpRefusal => "status" in value;

/** The number of remembered callers; beyond it, those with expired tokens are dropped. */
const MAX_LAPSES = 10_000;

const BEARER = /^bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *$/i;

const TOO_MANY: HttpRefusal = {
  status: 429,
  message: "too many requests; try again in a second",
  headers: { "retry-after": "1" },
};

const UNCHECKED: HttpRefusal = {
  status: 503,
  message: "the token cannot be checked right now; try again",
  headers: { "retry-after": "5" },
};

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
