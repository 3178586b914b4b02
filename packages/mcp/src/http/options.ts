import type { OAuthOptions } from "../access/oauth.ts";
import type { TokenStore } from "../access/tokens.ts";
import type { ApprovalSource } from "../approvals/source.ts";
import type { ServiceOptions } from "../service.ts";
import type { Limits } from "./limits.ts";

export interface HttpOptions extends Omit<ServiceOptions, "caller"> {
  /** The address to listen on; this machine's own, which nobody else can reach, when absent. */
  readonly host?: string;
  /** Any free one when absent. */
  readonly port?: number;
  readonly tokens: TokenStore;
  /** An authorisation server whose tokens are good here, too. */
  readonly oauth?: OAuthOptions;
  /** Under which URL clients know the endpoint, when that is not the one we listen on: behind a proxy. */
  readonly publicUrl?: string;
  /** The id of the project that is served; tokens for other projects are refused, and so are all when absent. */
  readonly project?: string;
  /** Paths of PEM files. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Names, without port, under which clients reach us beside the address we listen on. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may call us beside our own. */
  readonly allowedOrigins?: readonly string[];
  /** Serves the transport of 2024-11-05 (`/sse` and `/messages`) as well. */
  readonly sse?: boolean;
  /** Calls that wait for an approval are shown and answered at `/approvals`, for tokens with scope admin. */
  readonly approvals?: ApprovalSource;
  readonly limits?: Partial<Limits>;
}

export interface HttpServer {
  /** Where MCP is. */
  readonly url: string;
  readonly port: number;
  /** Resolves when the server has ended. */
  readonly closed: Promise<void>;
  /** Lets what runs come to its end for a while, and takes nothing new. */
  close(): Promise<void>;
}
