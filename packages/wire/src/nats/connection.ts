import { setTimeout as delay } from "node:timers/promises";
import {
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamClient,
  JetStreamError,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { type ObjectStore, Objm } from "@nats-io/obj";
import { connect, errors, type NatsConnection as NatsClientConnection, nanos } from "@nats-io/transport-node";
import { ToolError } from "@octant/core";
import { type NatsAddress, toServer, withoutCredentials } from "./address.ts";
import {
  BEGUN_STREAM,
  BEGUN_SUBJECTS,
  BODIES_BUCKET,
  JOB_SUBJECTS,
  JOBS_STREAM,
  LEASE_SUBJECTS,
  LEASES_STREAM,
  PLACES_STREAM,
  RESULT_SUBJECTS,
  RESULTS_STREAM,
  WANTED_SUBJECTS,
} from "./subjects.ts";

/** A lease that is not renewed for this long ends, and another worker takes it. */
export const LEASE_MS = 10_000;

/** As long as other job results are retained. */
export const RESULT_TTL_MS = 24 * 60 * 60 * 1_000;
/** A job published twice under its id within this time is stored once. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1_000;

/** A job that no worker has taken by then is dropped. */
const JOB_TTL_MS = 7 * 24 * 60 * 60 * 1_000;
/** A connection that the network has dropped is noticed after three pings without an answer, and made again. */
const PING_MS = 4_000;
/** Between attempts to reach a server that is not there yet. */
const WAIT_MS = 1_000;

/** A connection with Octant's streams and bucket, created when missing. */
export async function connectNats(address: NatsAddress, name: string) {
  const { url, replicas } = address;
  const nc = await connectToServer(address, name);
  const stream = { storage: StorageType.File, ...(replicas !== undefined && { num_replicas: replicas }) };
  /** Stores only the first message of each subject. */
  const firstWins = {
    ...stream,
    max_msgs_per_subject: 1,
    discard: DiscardPolicy.New,
    discard_new_per_subject: true,
  };
  try {
    if (!address.insecure && isOpen(nc)) throw openServer(url);
    const jsm = await jetstreamManager(nc);
    await ensureStream(jsm, {
      name: JOBS_STREAM,
      subjects: [JOB_SUBJECTS],
      retention: RetentionPolicy.Workqueue,
      ...stream,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
      max_age: nanos(JOB_TTL_MS),
    });
    await ensureStream(jsm, {
      name: BEGUN_STREAM,
      subjects: [BEGUN_SUBJECTS],
      retention: RetentionPolicy.Limits,
      // The first worker that begins a job is the only one.
      ...firstWins,
      max_age: nanos(JOB_TTL_MS),
    });
    await ensureStream(jsm, {
      name: RESULTS_STREAM,
      subjects: [RESULT_SUBJECTS],
      retention: RetentionPolicy.Limits,
      // The first result of a job is the only one.
      ...firstWins,
      max_age: nanos(RESULT_TTL_MS),
    });
    await ensureStream(jsm, {
      name: PLACES_STREAM,
      subjects: [WANTED_SUBJECTS],
      retention: RetentionPolicy.Workqueue,
      // A place that is asked for twice is one.
      ...firstWins,
      max_age: nanos(JOB_TTL_MS),
    });
    await ensureStream(jsm, {
      name: LEASES_STREAM,
      subjects: [LEASE_SUBJECTS],
      retention: RetentionPolicy.Limits,
      ...stream,
      // As the key-value store makes its buckets.
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      allow_rollup_hdrs: true,
      deny_delete: true,
      max_age: nanos(LEASE_MS),
    });
    const js = jetstream(nc);
    const openBucket = (name: string, ttlMs?: number) => ensureBucket({ js, jsm }, name, { ttlMs, replicas });
    const bodies = await openBucket(BODIES_BUCKET, RESULT_TTL_MS);
    return { nc, js, jsm, bodies, openBucket, close: () => nc.close() };
  } catch (cause) {
    await nc.close();
    throw unusable(url, cause);
  }
}

/** A stream of an earlier version, or with another number of replicas, gets these settings. */
async function ensureStream(jsm: JetStreamManager, config: StreamConfig): Promise<void> {
  try {
    await jsm.streams.add(config);
  } catch (cause) {
    if (codeOf(cause) !== OTHER_STREAM_SETTINGS) throw cause;
    await jsm.streams.update(config.name, config);
  }
}

/** The object store of this name; one with another number of replicas gets this one. */
async function ensureBucket(
  { js, jsm }: { readonly js: JetStreamClient; readonly jsm: JetStreamManager },
  name: string,
  { ttlMs, replicas }: { readonly ttlMs: number | undefined; readonly replicas: number | undefined },
): Promise<ObjectStore> {
  const bucket = await new Objm(js).create(name, {
    storage: StorageType.File,
    ...(ttlMs !== undefined && { ttl: nanos(ttlMs) }),
    ...(replicas !== undefined && { replicas }),
  });
  if (replicas === undefined) return bucket;
  const { config } = await jsm.streams.info(`OBJ_${name}`);
  if (config.num_replicas !== replicas)
    await jsm.streams.update(config.name, { ...config, num_replicas: replicas });
  return bucket;
}

type StreamConfig = Parameters<JetStreamManager["streams"]["add"]>[0];
const OTHER_STREAM_SETTINGS = 10058;

async function connectToServer(address: NatsAddress, name: string): Promise<NatsClientConnection> {
  const { url, onWaiting } = address;
  const server = toServer(address);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await connect({
        ...{ ...server, name, maxReconnectAttempts: -1, ignoreAuthErrorAbort: true, pingInterval: PING_MS },
      });
    } catch (cause) {
      if (!onWaiting || !isNotThere(cause)) throw unusable(url, cause);
      if (attempt === 0) onWaiting(`waits for NATS at ${withoutCredentials(url)}: ${cause.message}`);
      await delay(WAIT_MS);
    }
  }
}

/** A cluster may give a server its name only when it runs. */
const isNotThere = (cause: unknown): cause is Error =>
  cause instanceof errors.ConnectionError || (cause instanceof Error && "syscall" in cause);

const isOpen = ({ info }: NatsClientConnection): boolean => !info?.auth_required && !info?.tls_verify;

const openServer = (url: string) =>
  new ToolError(
    "UPSTREAM_ERROR",
    `the NATS server at ${withoutCredentials(url)} asks for no credentials: everyone who can reach it could run commands here. Give it users, or pass --insecure where only you can reach it`,
    {},
  );

/** JetStream's codes for "another message exists", which makes a second one impossible, and for none. */
export const WRONG_LAST_SEQUENCE = 10071;
export const NO_MESSAGE = 10037;

export const codeOf = (cause: unknown): number =>
  typeof cause === "object" && cause !== null && "code" in cause ? Number(cause.code) : 0;

export type NatsConnection = Awaited<ReturnType<typeof connectNats>>;

const NATS_ERRORS = [...Object.values(errors), JetStreamApiError, JetStreamError];

/** A failure of the NATS server during a call as UPSTREAM_ERROR; any other error as it is. */
export function toUpstreamError(cause: unknown): unknown {
  if (!NATS_ERRORS.some((type) => cause instanceof type)) return cause;
  const reason = cause instanceof Error ? cause.message : "";
  const message = `the NATS server did not answer (${reason}); a job may have been queued anyway: check job.list before you call again`;
  return new ToolError("UPSTREAM_ERROR", message, {}, { cause });
}

const unusable = (url: string, cause: unknown) => {
  if (cause instanceof ToolError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `NATS at ${withoutCredentials(url)} cannot be used: ${reason}; ${nextStepFor(cause)}`;
  return new ToolError("UPSTREAM_ERROR", message, {}, { cause });
};

function nextStepFor(cause: unknown): string {
  if (cause instanceof errors.AuthorizationError || cause instanceof errors.UserAuthenticationExpiredError)
    return "check the user and password of its URL, or the file of --nats-creds or --nats-nkey";
  if (cause instanceof errors.PermissionViolationError)
    return "docs/wire.md lists the subjects that its user needs";
  if (cause instanceof JetStreamApiError) return "check --nats-replicas and the limits of the server";
  return "is nats-server -js running there?";
}
