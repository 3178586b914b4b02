export { type FindOpener, openInBrowser } from "./browser.ts";
export { type Downloaded, type DownloadPlace, downloadFile } from "./download.ts";
export * from "./network.ts";
export { checkFree, placeFile } from "./place-file.ts";
export type { NetworkPolicy } from "./policy.ts";
export type { LocalSite, PolicyProxy, PolicyProxyOptions } from "./policy-proxy.ts";
export type { Resolve } from "./resolve.ts";
