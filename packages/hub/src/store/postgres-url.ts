import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "node:tls";
import { invalidArgument } from "@octant/core";

const MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type Mode = (typeof MODES)[number];

export interface PostgresAddress {
  /** The URL for the driver, without the parameters below. */
  readonly url: string;
  /** The folder of a Unix socket. */
  readonly host?: string;
  readonly ssl: false | "prefer" | ConnectionOptions;
}

/**
 * Reads the parameters of a `postgres://` URL that libpq has and the driver lacks: a Unix socket as `host`, and TLS as
 * `sslmode`, `sslrootcert`, `sslcert` and `sslkey`. Messages never repeat the URL, which may have a password.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const url = URL.parse(text);
  if (!url || !["postgres:", "postgresql:"].includes(url.protocol))
    throw invalid("the database is not a URL such as postgres://user@host/name");
  const take = (name: string): string | undefined => {
    const value = url.searchParams.get(name) ?? undefined;
    url.searchParams.delete(name);
    return value;
  };
  const host = url.searchParams.get("host")?.startsWith("/") ? take("host") : undefined;
  const ca = take("sslrootcert");
  const mode = parseMode(take("sslmode") ?? take("ssl"), ca);
  const files = { ca: readPem(ca), cert: readPem(take("sslcert")), key: readPem(take("sslkey")) };
  return {
    url: url.href,
    ...(host !== undefined && { host }),
    ssl: toTls(mode, { ...files, host: url.hostname }),
  };
}

function parseMode(given: string | undefined, ca: string | undefined): Mode {
  const mode = MODES.find((one) => one === (given === "true" ? "require" : (given ?? "prefer")));
  if (!mode) throw invalid(`sslmode is one of ${MODES.join(", ")}`);
  // As libpq: who names an authority wants the certificate checked.
  return mode === "require" && ca !== undefined ? "verify-ca" : mode;
}

function toTls(mode: Mode, files: ConnectionOptions): PostgresAddress["ssl"] {
  if (mode === "disable" || mode === "prefer") return mode === "prefer" && mode;
  return {
    ...files,
    rejectUnauthorized: mode !== "require",
    // verify-ca checks the authority, and not the name of the server.
    ...(mode === "verify-ca" && { checkServerIdentity: () => undefined }),
  };
}

/** `system` stands for the authorities that Node knows. */
function readPem(path: string | undefined): string | undefined {
  if (path === undefined || path === "system") return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw invalid(`the certificate file ${path} cannot be read`);
  }
}

const invalid = (message: string) => invalidArgument("database", message);
