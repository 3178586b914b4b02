import { ToolError } from "@octant/core";
import type { NatsAddress } from "@octant/wire";
import { type Flags, type FlagValues, type Io, toCount, UsageError } from "./command.ts";
import { logLine } from "./workspace-flags.ts";

/** JetStream stores a stream on at most this many servers. */
const MAX_REPLICAS = 5;

/** How to sign in to a NATS server. */
export const natsFlags = {
  "nats-ca": {
    summary: "For --nats: authorities of the server's certificate, PEM",
    value: "FILE",
    env: "OCTANT_NATS_CA",
  },
  "nats-cert": {
    summary: "For --nats: the client's certificate, PEM",
    value: "FILE",
    env: "OCTANT_NATS_CERT",
  },
  "nats-key": { summary: "For --nats: the key of --nats-cert, PEM", value: "FILE", env: "OCTANT_NATS_KEY" },
  "nats-creds": {
    summary: "For --nats: a credentials file (JWT and seed)",
    value: "FILE",
    env: "OCTANT_NATS_CREDS",
  },
  "nats-nkey": {
    summary: "For --nats: a file with the seed of an nkey",
    value: "FILE",
    env: "OCTANT_NATS_NKEY",
  },
  "nats-replicas": {
    summary: "For --nats: how many servers of the cluster store each stream",
    value: "N",
    env: "OCTANT_NATS_REPLICAS",
  },
  insecure: { summary: "For --nats: accept a server that asks for no credentials" },
} as const satisfies Flags;

export function toNatsAddress(url: string, flags: FlagValues<typeof natsFlags>, io: Io): NatsAddress {
  return {
    url,
    ca: flags["nats-ca"],
    cert: flags["nats-cert"],
    key: flags["nats-key"],
    creds: flags["nats-creds"],
    nkey: flags["nats-nkey"],
    insecure: flags.insecure,
    replicas: toCount("nats-replicas", flags["nats-replicas"], { max: MAX_REPLICAS }),
    onWaiting: (line) => void logLine(line, io),
  };
}

/** Turns a failure of the NATS server or its workers into an error that the person can act on. */
export const explainNats = (cause: unknown): never =>
  explain(cause, "docs/wire.md shows how workers and edges are started");

export const explainHosts = (cause: unknown): never =>
  explain(cause, "docs/hosts.md shows how hubs and hosts are started");

function explain(cause: unknown, hint: string): never {
  if (!(cause instanceof ToolError)) throw cause;
  throw new UsageError(cause.message, hint);
}
