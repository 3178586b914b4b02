import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";

const PAGE = join(import.meta.dirname, "../../packages/console/page");
const COMPRESSED = /\.(?:js|css|html|svg)$/;

/** Builds the console's page into a folder, with a compressed copy of every text file beside it. */
export async function buildPage(folder: string): Promise<void> {
  await build({
    configFile: join(PAGE, "vite.config.ts"),
    // The others write a temporary file into node_modules, where an ordinary user may not.
    configLoader: "runner",
    logLevel: "warn",
    build: { outDir: folder },
  });
  for (const name of globSync("**/*", { cwd: folder }).filter((path) => COMPRESSED.test(path))) {
    const file = join(folder, name);
    const content = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
  }
}
