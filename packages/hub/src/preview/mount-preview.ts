import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type Caller, type Dispatch, ERRORS } from "@octant/core";
import { type HttpRefusal, type HttpServer, refuse, refuseUpgrade } from "@octant/http";
import { type PreviewAddress, type PreviewTarget, targetOf } from "./preview-address.ts";
import { COOKIE_MS, type PreviewGrant, type PreviewGrants } from "./preview-grants.ts";
import { COOKIE, cookieOf } from "./preview-headers.ts";
import type { PreviewProxy } from "./preview-proxy.ts";

export interface MountPreviewOptions {
  readonly dispatch: Dispatch;
  readonly address: PreviewAddress;
  readonly grants: PreviewGrants;
  readonly proxy: PreviewProxy;
}

/** The parameter of a one-time link. */
export const LINK_PARAMETER = "octant_preview";
const SECOND_MS = 1_000;

/**
 * Serves ports of containers, each under a host name of its own. Their pages are untrusted: they share no origin and no
 * cookie with the hub, and the check of Origin keeps them from calling it.
 */
export function mountPreview(
  server: Pick<HttpServer, "mountSite" | "connections" | "standingOf">,
  { dispatch, address, grants, proxy }: MountPreviewOptions,
): void {
  const findGrant = (request: IncomingMessage, target: PreviewTarget): PreviewGrant | undefined => {
    const grant = grants.find(cookieOf(request.headers) ?? "", target);
    // The token may have been revoked since.
    return grant && server.standingOf(grant.caller) === "good" ? grant : undefined;
  };
  const open = (response: ServerResponse, url: URL, target: PreviewTarget) => {
    const cookie = grants.redeem(url.searchParams.get(LINK_PARAMETER) ?? "", target);
    if (cookie === undefined) return refuse(response, USED_LINK);
    url.searchParams.delete(LINK_PARAMETER);
    const attributes = [
      `${COOKIE}=${cookie}`,
      `Path=/; Max-Age=${COOKIE_MS / SECOND_MS}; HttpOnly; SameSite=Lax`,
      ...(address.isSecure ? ["Secure"] : []),
    ];
    // With two slashes it would be another host.
    const location = `${url.pathname.replace(/^\/+/, "/")}${url.search}`;
    const headers = { location, "set-cookie": attributes.join("; ") };
    response
      .writeHead(303, { ...headers, "cache-control": "no-store", "referrer-policy": "no-referrer" })
      .end();
  };
  /** The one check of access: the call that makes a link to the preview. */
  const findRefusal = async (target: PreviewTarget, caller: Caller): Promise<HttpRefusal | undefined> => {
    const call = { tool: "container", action: "preview", input: { ...target } };
    const { error } = (await dispatch(call, { caller })).envelope;
    return error ? { status: ERRORS[error.code].http, message: error.message } : undefined;
  };

  server.mountSite(address.domain, {
    handlePublic(request, response) {
      const target = targetOf(request.headers.host);
      if (!target) {
        refuse(response, NO_PREVIEW);
        return true;
      }
      const url = URL.parse(`http://preview${request.url}`);
      // HEAD, as a preview of a link sends it, must not use the link up.
      if (request.method === "GET" && url?.searchParams.has(LINK_PARAMETER)) {
        open(response, url, target);
        return true;
      }
      const grant = findGrant(request, target);
      if (!grant) {
        if (request.headers.authorization !== undefined) return false;
        refuse(response, NEEDS_LINK);
        return true;
      }
      if (isForged(request)) refuse(response, FORGED);
      else {
        server.connections.request(request.socket, grant.caller, response);
        proxy.handle(request, response, { target, keepsAuthorization: true });
      }
      return true;
    },
    async handle(request, response, caller) {
      const target = targetOf(request.headers.host);
      const refusal = target ? await findRefusal(target, caller) : NO_PREVIEW;
      if (refusal || !target) return refuse(response, refusal ?? NO_PREVIEW);
      proxy.handle(request, response, { target, keepsAuthorization: false });
    },
    upgradePublic(request, socket, head) {
      const target = targetOf(request.headers.host);
      const grant = target && findGrant(request, target);
      if (!target || !grant || isForged(request)) {
        if (target && request.headers.authorization !== undefined) return false;
        return refuseUpgrade(socket, target ? NEEDS_LINK : NO_PREVIEW);
      }
      return pass(request, socket, head, { target, caller: grant.caller, keepsAuthorization: true });
    },
    async upgrade(request, socket, head, caller) {
      const target = targetOf(request.headers.host);
      const refusal = target ? await findRefusal(target, caller) : NO_PREVIEW;
      if (refusal || !target) return refuseUpgrade(socket, refusal ?? NO_PREVIEW);
      return pass(request, socket, head, { target, caller, keepsAuthorization: false });
    },
    close: () => proxy.close(),
  });

  const pass = (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { caller, ...asked }: { target: PreviewTarget; caller: Caller; keepsAuthorization: boolean },
  ) => {
    server.connections.upgrade(socket, caller, () => socket.destroy());
    proxy.upgrade(request, socket, head, asked);
  };
}

/** Another page made the browser send it; a link that a person follows is fine. */
function isForged({ method, headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"] ?? "same-origin";
  const isFollowed = method === "GET" && headers["sec-fetch-mode"] === "navigate";
  return site !== "same-origin" && site !== "none" && !isFollowed;
}

const NO_PREVIEW: HttpRefusal = {
  status: 404,
  message: "this host name is not a preview; container.preview gives its link",
};
const NEEDS_LINK: HttpRefusal = {
  status: 401,
  message: "this preview needs a link of container.preview, or a token: Authorization: Bearer <token>",
};
const USED_LINK: HttpRefusal = {
  status: 403,
  message: "this link was used or has expired; container.preview gives a new one",
};
const FORGED: HttpRefusal = { status: 403, message: "another page sent this request" };
