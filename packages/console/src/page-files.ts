import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { CONSOLE_PATH } from "./api.ts";
import { SAFE_HEADERS } from "./headers.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".json": "application/json",
};
/** Compressed when the page is built. */
const ENCODINGS = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;
/** Vite puts files with a hash in their name here. */
const HASHED = /^\/assets\//;

/** Where the page is: next to the built code, or in the build folder of a checkout. */
const findPage = (): string | undefined =>
  [join(import.meta.dirname, "page"), join(import.meta.dirname, "../dist/page")].find((folder) =>
    existsSync(join(folder, "index.html")),
  );

/**
 * The files of the page from the package itself. All are read at once, so a request cannot leave the folder, and a page
 * that is open stays whole when another version is installed over it.
 */
export function createPageFiles(folder: string | undefined = findPage()) {
  const files = folder === undefined ? new Map<string, Buffer>() : readFiles(folder);
  return {
    /** Answers a GET or HEAD for a file; every path without an ending is the page itself, for its deep links. */
    send(request: IncomingMessage, response: ServerResponse, status = 200) {
      const path = pathOf(request).slice(CONSOLE_PATH.length);
      const name = extname(path) === "" ? "/index.html" : path;
      const whole = files.get(name);
      if (!whole) return sendMissing(response, name === "/index.html");
      const accepted = request.headers["accept-encoding"] ?? "";
      const encoding = ENCODINGS.find((one) => accepted.includes(one.name) && files.has(name + one.ending));
      const body = (encoding && files.get(name + encoding.ending)) ?? whole;
      response.writeHead(status, {
        ...SAFE_HEADERS,
        "content-type": TYPES[extname(name)] ?? "application/octet-stream",
        "content-length": body.length,
        "cache-control": HASHED.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
        vary: "accept-encoding",
        ...(encoding && { "content-encoding": encoding.name }),
      });
      response.end(request.method === "HEAD" ? undefined : body);
    },
  };
}

function pathOf({ url = "/" }: IncomingMessage): string {
  const [path = ""] = url.split("?", 1);
  return path;
}

const readFiles = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [`/${relative(folder, path).split(sep).join("/")}`, readFileSync(path)];
      }),
  );

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Octant console</title>
<h1>The page of the console is not built</h1>
<p>This is a checkout of Octant. Run <code>npm run page</code> in it, and load this page again. The API works without it.</p>`;

function sendMissing(response: ServerResponse, isPage: boolean): void {
  const text = isPage ? NOT_BUILT : "not found";
  response.writeHead(isPage ? 503 : 404, {
    ...SAFE_HEADERS,
    "content-type": isPage ? "text/html; charset=utf-8" : "text/plain",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
  });
  response.end(text);
}
