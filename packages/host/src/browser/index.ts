export type { Route } from "playwright-core";

export { type Browsers, createBrowsers } from "./browsers.ts";
export { invalid, isTimeout, messageOf, noPage } from "./failures.ts";
export { recordPage } from "./page-recorder.ts";
export { loadPlaywright } from "./playwright.ts";
export type { Acting, Profile } from "./profile.ts";
export { PageAnswer, TWO_FRAMES, UNTRUSTED } from "./report.ts";
export { markElements, takeChanges, takeSnapshot } from "./snapshots.ts";

export { findTarget } from "./targets.ts";
export { toShownUrl, toSiteUrl } from "./workspace-site.ts";
