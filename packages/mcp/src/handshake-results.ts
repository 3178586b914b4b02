import { HANDSHAKE_VERSIONS } from "./era.ts";
import type { HandshakeResults } from "./handshake.ts";
import { toDiscoverResult, toInitializeResult } from "./methods/lifecycle.ts";
import { toToolList } from "./methods/tools.ts";
import { toModernResult } from "./modern-result.ts";
import type { Service } from "./service.ts";

export const toHandshakeResults = (service: Service): HandshakeResults => ({
  initialize: Object.fromEntries(
    HANDSHAKE_VERSIONS.map((version) => [version, toInitializeResult(service, version)]),
  ),
  discover: toModernResult(service, "server/discover", toDiscoverResult(service)),
  tools: {
    legacy: toToolList(service, "legacy"),
    modern: toModernResult(service, "tools/list", toToolList(service, "modern")),
  },
  offers: service.listing.current().offers,
});
