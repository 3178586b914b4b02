import { readFileSync } from "node:fs";
import {
  type Authenticator,
  credsAuthenticator,
  type NodeConnectionOptions,
  nkeyAuthenticator,
  type TlsOptions,
} from "@nats-io/transport-node";
import { ToolError } from "@octant/core";

/** A NATS server and how to sign in to it. The files are those that NATS's own tools write. */
export interface NatsAddress {
  /** `nats://host:port` or `tls://host:port`, with `user:password@` or `token@` where the server wants them. */
  readonly url: string;
  /** A PEM file with the authorities that sign the server's certificate. */
  readonly ca?: string | undefined;
  /** PEM files of the client's own certificate. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** A credentials file: a JWT and its seed. */
  readonly creds?: string | undefined;
  /** A file with the seed of an nkey. */
  readonly nkey?: string | undefined;
  /** Accepts a server that lets everybody in. */
  readonly insecure?: boolean | undefined;
  /** The number of servers of a cluster that store each stream. */
  readonly replicas?: number | undefined;
  /** Waits for a server that is not running yet, and logs that; without it that is an error. */
  readonly onWaiting?: ((line: string) => void) | undefined;
}

/** Removes the credentials from the URL, so that no message shows them. */
export function toServer({ url: text, ca, cert, key, creds, nkey }: NatsAddress): NodeConnectionOptions {
  const url = URL.parse(text);
  if (!url || !/^(nats|tls):$/.test(url.protocol) || url.hostname === "")
    throw invalid(
      "a NATS address is nats://host:port or tls://host:port, with user:password@ where it needs them",
    );
  if ((cert === undefined) !== (key === undefined))
    throw invalid("a client certificate needs both files: the certificate and its key");
  const user = decodeURIComponent(url.username);
  const pass = decodeURIComponent(url.password);
  const tls: TlsOptions = {
    ...(ca !== undefined && { ca: read(ca) }),
    ...(cert !== undefined && { cert: read(cert) }),
    ...(key !== undefined && { key: read(key) }),
  };
  const isTls = url.protocol === "tls:" || Object.keys(tls).length > 0;
  return {
    servers: `${url.hostname}:${url.port || 4222}`,
    ...(isTls && { tls }),
    ...(user && pass && { user, pass }),
    ...(user && !pass && { token: user }),
    ...(creds !== undefined && {
      authenticator: checked(
        credsAuthenticator(Buffer.from(read(creds))),
        `${creds} is not a credentials file`,
      ),
    }),
    ...(nkey !== undefined && {
      authenticator: checked(
        nkeyAuthenticator(Buffer.from(read(nkey).trim())),
        `${nkey} has no seed of an nkey`,
      ),
    }),
  };
}

/** The client would find out when it connects, and blame the server. */
function checked(authenticator: Authenticator, otherwise: string): Authenticator {
  try {
    authenticator("nonce");
    return authenticator;
  } catch (cause) {
    throw invalid(otherwise, cause);
  }
}

export const withoutCredentials = (url: string): string => url.replace(/\/\/[^@/]*@/, "//");

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw invalid(`the file ${file} for NATS cannot be read`, cause);
  }
}

const invalid = (message: string, cause?: unknown) =>
  new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "nats", message }] }, { cause });
