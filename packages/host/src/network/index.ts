export type { Resolve } from "./admit.ts";
export { type FindOpener, openInBrowser } from "./browser.ts";
export { downloadFile } from "./download.ts";
export type { HttpProxy } from "./http-proxy.ts";
export {
  createNetwork,
  type HttpResponse,
  LOCAL_POLICY,
  type Network,
  type NetworkOptions,
} from "./network.ts";
export { checkFree, placeFile } from "./place-file.ts";
export type { NetworkPolicy } from "./policy.ts";
