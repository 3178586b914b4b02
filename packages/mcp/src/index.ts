export { createListing, type Listing, type ListingOptions } from "./listing.ts";
export { type ListedTool, PROFILES, type Profile } from "./profiles.ts";
export type { ServiceOptions } from "./service.ts";
export { type StdioOptions, type StdioServer, serveStdio } from "./stdio.ts";
