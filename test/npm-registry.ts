import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** What `npm publish` sends: the manifest of one version, and its tarball. */
interface PublishDocument {
  readonly _id: string;
  readonly name: string;
  readonly "dist-tags": Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, VersionDocument>>;
  readonly access?: string | null;
  readonly _attachments: Readonly<Record<string, { readonly data: string; readonly length: number }>>;
}

interface VersionDocument {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  /** npm's registry adds it, and npm obeys a shrinkwrap only with it. */
  readonly _hasShrinkwrap?: boolean;
  readonly dist: { readonly integrity: string; readonly shasum: string; readonly tarball: string };
}

interface Package {
  readonly versions: Record<string, VersionDocument>;
  readonly "dist-tags": Record<string, string>;
  readonly tarballs: Map<string, Buffer>;
}

export const TOKEN = "npm_registry_of_a_test";
const SEMVER = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;

/** A registry in memory. It refuses what npm's refuses: no token, a wrong checksum, a version that exists. */
export async function createNpmRegistry() {
  const packages = new Map<string, Package>();
  const server = createServer(async (request, response) => {
    const answer = await respond(packages, request, `http://${request.headers.host}`);
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(Buffer.isBuffer(answer.body) ? answer.body : JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    url: `http://127.0.0.1:${port}/`,
    packages,
    /** The line of .npmrc that signs npm in. */
    npmrc: `//127.0.0.1:${port}/:_authToken=${TOKEN}\n`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const failure = (status: number, error: string): Answer => ({ status, body: { error } });

async function respond(
  packages: Map<string, Package>,
  request: IncomingMessage,
  origin: string,
): Promise<Answer> {
  const path = decodeURIComponent(new URL(request.url ?? "/", origin).pathname).slice(1);
  if (request.method === "PUT") {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return failure(401, "sign in first");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    return publish(packages, path, JSON.parse(Buffer.concat(chunks).toString()));
  }
  const [name = "", file] = path.split("/-/");
  const found = packages.get(name);
  if (!found || request.method !== "GET") return failure(404, "Not found");
  if (file !== undefined) {
    const tarball = found.tarballs.get(file);
    return tarball ? { status: 200, body: tarball } : failure(404, "Not found");
  }
  const { versions, "dist-tags": tags } = found;
  const located = Object.entries(versions).map(([version, document]) => {
    const tarball = `${origin}/${name}/-/${fileOf(name, version)}`;
    return [version, { ...document, dist: { ...document.dist, tarball } }] as const;
  });
  return { status: 200, body: { name, "dist-tags": tags, versions: Object.fromEntries(located) } };
}

function publish(packages: Map<string, Package>, path: string, document: PublishDocument): Answer {
  const [version = "", ...others] = Object.keys(document.versions);
  const manifest = document.versions[version];
  const [attachment, ...more] = Object.values(document._attachments);
  if (document._id !== path || document.name !== path) return failure(400, "the name differs from the URL");
  if (!manifest || !attachment || others.length + more.length > 0)
    return failure(400, "one version at a time");
  if (manifest.name !== path || manifest.version !== version || !SEMVER.test(version))
    return failure(400, `invalid version ${version}`);
  if (!Object.values(document["dist-tags"]).every((tagged) => tagged === version))
    return failure(400, "a tag names another version");
  if (path.startsWith("@") && document.access !== "public")
    return failure(402, "private packages cost money");
  if (manifest.private) return failure(403, "the package is private");
  const tarball = Buffer.from(attachment.data, "base64");
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  const shasum = createHash("sha1").update(tarball).digest("hex");
  if (attachment.length !== tarball.length) return failure(400, "the tarball has another length");
  if (manifest.dist.integrity !== integrity || manifest.dist.shasum !== shasum)
    return failure(400, "the checksum differs from the tarball");
  const files = readTar(gunzipSync(tarball));
  const inside = JSON.parse(files.get("package/package.json")?.toString() ?? "{}");
  if (inside.name !== path || inside.version !== version)
    return failure(400, "the tarball holds another package");
  const found: Package = packages.get(path) ?? { versions: {}, "dist-tags": {}, tarballs: new Map() };
  if (found.versions[version])
    return failure(403, "You cannot publish over the previously published versions");
  packages.set(path, found);
  const _hasShrinkwrap = files.has("package/npm-shrinkwrap.json");
  found.versions[version] = { ...manifest, _hasShrinkwrap };
  Object.assign(found["dist-tags"], document["dist-tags"]);
  found.tarballs.set(fileOf(path, version), tarball);
  return { status: 201, body: { ok: true } };
}

const fileOf = (name: string, version: string) => `${name.split("/").at(-1)}-${version}.tgz`;

/** The files of a tar by path; names of npm's packages are short enough for the plain format. */
export function readTar(tar: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const text = (from: number, length: number) =>
      tar.toString("utf8", at + from, at + from + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 12), 8);
    files.set(
      [text(345, 155), text(0, 100)].filter(Boolean).join("/"),
      tar.subarray(at + 512, at + 512 + size),
    );
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}
