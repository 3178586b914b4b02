import type { IncomingHttpHeaders } from "node:http";
import { codeOf } from "./failures.ts";
import type { HttpProxy, HttpProxyOptions } from "./http-proxy.ts";
import { createGate, type NetworkPolicy } from "./policy.ts";
import {
  addressesOf,
  checkDenied,
  type DeniesHost,
  type Resolve,
  systemResolve,
} from "./resolve-and-check.ts";
import { parseTarget } from "./target.ts";

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
  /** Whether redirects are followed. */
  readonly follow: boolean;
  /** For everything, from the name to the last byte. */
  readonly timeoutMs: number;
  /** The caller is remote: loopback and private networks are closed to it. */
  readonly isRemote: boolean;
  readonly signal: AbortSignal;
}

/** The head of an answer, and the way to its body. */
export interface HttpResponse {
  readonly status: number;
  /** The final URL, without credentials. */
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly redirects: number;
  /** The body, decompressed; TOO_LARGE as soon as there is more. To be read once, if at all. */
  body(maxBytes: number): AsyncIterable<Buffer>;
}

/** The one way in which tools reach other machines. Errors name the host and nothing else of a URL. */
export interface Network {
  /** Sends a request and passes the response to `use`; an unread body is discarded afterwards. */
  request<T>(request: HttpRequest, use: (response: HttpResponse) => Promise<T>): Promise<T>;
  /** A proxy that applies the policy to a program that is not ours, such as a browser. */
  openProxy(
    options: Pick<HttpProxyOptions, "listen" | "site"> &
      Pick<NetworkOptions, "denies"> & { readonly isRemote: boolean },
  ): Promise<HttpProxy>;
  /** The normalised URL to open in a browser; throws when it may not be opened. */
  checkUrl(url: string, isRemote: boolean): URL;
  /**
   * The same, and throws when the name now has an address that may not be reached. A name without an address passes: it
   * is checked again when a request resolves it.
   */
  checkResolved(url: string, how: { readonly isRemote: boolean; readonly signal: AbortSignal }): Promise<URL>;
  close(): Promise<void>;
}

export interface NetworkOptions {
  readonly policy: NetworkPolicy;
  /** Proxies are taken from here; without it every connection is ours. */
  readonly env?: NodeJS.ProcessEnv;
  readonly resolve?: Resolve;
  /** The denials of rules for the running call, checked at each hop. */
  readonly denies?: DeniesHost | undefined;
  /** Certificates that are trusted instead of those that come with Node. */
  readonly ca?: readonly string[];
  warn?(message: string): void;
}

export const LOCAL_POLICY: NetworkPolicy = { loopback: true, private: false, allow: [], deny: [] };

/** Throws a TypeError when the policy cannot be read. The HTTP modules are loaded with the first request. */
export function createNetwork(options: NetworkOptions): Network {
  const gate = createGate(options.policy);
  let requests: Promise<ReturnType<typeof import("./requests.ts").createRequests>> | undefined;
  const checkUrl: Network["checkUrl"] = (url, isRemote) => {
    const target = parseTarget(url);
    gate.checkName(target, isRemote);
    gate.checkAddresses(target, [], isRemote);
    checkDenied(target, options.denies);
    return target.url;
  };
  const load = () =>
    (requests ??= import("./requests.ts").then(({ createRequests }) => createRequests(gate, options)));
  return {
    request: async (request, use) => (await load()).request(request, use),
    openProxy: async (how) => (await load()).openProxy(how),
    checkUrl,
    async checkResolved(url, { isRemote, signal }) {
      const checked = checkUrl(url, isRemote);
      const target = parseTarget(url);
      const found = addressesOf(target, options.resolve ?? systemResolve, signal);
      const addresses = await found.catch((cause: unknown) => {
        if (codeOf(cause) === undefined) throw cause;
        return [];
      });
      gate.checkAddresses(target, addresses, isRemote);
      checkDenied(target, options.denies, addresses);
      return checked;
    },
    close: async () => (await requests)?.close(),
  };
}
