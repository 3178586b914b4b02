// `npm run page`: builds the console's page for a checkout; `npm run build` does the same for a release.
import { join } from "node:path";
import { buildPage } from "./build/build-page.ts";

await buildPage(join(import.meta.dirname, "../packages/console/dist/page"));
