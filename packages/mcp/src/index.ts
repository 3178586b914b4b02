export { ANSWERS, type Answers } from "./answer.ts";
export { createToolNames, type ToolNames, type ToolPlace } from "./client/tool-names.ts";
export { type HttpOptions, type HttpServer, type Limits, serveHttp } from "./http/index.ts";
export { createListing, type Listing, type ListingOptions } from "./listing.ts";
export { answerOpening, type Opened, type Opening } from "./opening.ts";
export { type ListedTool, PROFILES, type Profile } from "./profiles.ts";
export type { ServiceOptions } from "./service.ts";
export { type StdioOptions, type StdioServer, serveStdio } from "./stdio.ts";
