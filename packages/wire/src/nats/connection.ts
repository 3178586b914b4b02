import {
  DiscardPolicy,
  JetStreamApiError,
  JetStreamError,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { Objm } from "@nats-io/obj";
import { connect, errors, nanos } from "@nats-io/transport-node";
import { ToolError } from "@octant/core";
import {
  BODIES_BUCKET,
  JOB_SUBJECTS,
  JOBS_STREAM,
  LEASE_SUBJECTS,
  LEASES_STREAM,
  RESULT_SUBJECTS,
  RESULTS_STREAM,
} from "./subjects.ts";

/** A lease that is not renewed for this long ends, and another worker takes it. */
export const LEASE_MS = 10_000;

/** As long as other job results are retained. */
const RESULT_TTL_MS = 24 * 60 * 60 * 1_000;
/** A job published twice under its id within this time is stored once. */
const DUPLICATE_WINDOW_MS = 10 * 60 * 1_000;

/** A connection with Octant's streams and bucket, created when missing. */
export async function connectNats(url: string, name: string) {
  const nc = await connect({
    ...toServer(url),
    name,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
  }).catch((cause) => {
    throw unreachable(url, cause);
  });
  try {
    const jsm = await jetstreamManager(nc);
    await jsm.streams.add({
      name: JOBS_STREAM,
      subjects: [JOB_SUBJECTS],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
    });
    await jsm.streams.add({
      name: RESULTS_STREAM,
      subjects: [RESULT_SUBJECTS],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      // The first result of a job is the only one.
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      discard_new_per_subject: true,
      max_age: nanos(RESULT_TTL_MS),
    });
    await jsm.streams.add({
      name: LEASES_STREAM,
      subjects: [LEASE_SUBJECTS],
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      // As the key-value store makes its buckets.
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.New,
      allow_rollup_hdrs: true,
      deny_delete: true,
      max_age: nanos(LEASE_MS),
    });
    const js = jetstream(nc);
    const bodies = await new Objm(js).create(BODIES_BUCKET, {
      ttl: nanos(RESULT_TTL_MS),
      storage: StorageType.File,
    });
    return { nc, js, jsm, bodies, close: () => nc.close() };
  } catch (cause) {
    await nc.close();
    throw unreachable(url, cause);
  }
}

/** Whether the server accepts clients without credentials. */
export const isOpenServer = ({ nc }: NatsConnection): boolean =>
  !nc.info?.auth_required && !nc.info?.tls_verify;

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

/** Removes the credentials from a URL, so that no message shows them. */
function toServer(text: string) {
  const url = URL.parse(text);
  if (!url || !/^(nats|tls):$/.test(url.protocol) || url.hostname === "") {
    const message =
      "a NATS address is nats://host:port or tls://host:port, with user:password@ where it needs them";
    throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "nats", message }] });
  }
  const user = decodeURIComponent(url.username);
  const pass = decodeURIComponent(url.password);
  return {
    servers: `${url.hostname}:${url.port || 4222}`,
    ...(url.protocol === "tls:" && { tls: {} }),
    ...(user && pass && { user, pass }),
    ...(user && !pass && { token: user }),
  };
}

export const withoutCredentials = (url: string): string => url.replace(/\/\/[^@/]*@/, "//");

const unreachable = (url: string, cause: unknown) => {
  if (cause instanceof ToolError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `NATS at ${withoutCredentials(url)} cannot be used: ${reason}; is nats-server -js running there?`;
  return new ToolError("UPSTREAM_ERROR", message, {}, { cause });
};
