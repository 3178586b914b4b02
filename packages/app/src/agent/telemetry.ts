import { randomBytes } from "node:crypto";
import type { AgentEvent, StampedEvent } from "@octant/agent";
import type { ReadableTopic } from "@octant/core";
import { attempt } from "@octant/core";
import { loadVersion } from "../version.ts";

/** An OpenTelemetry span in the JSON form of OTLP. */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: 1 | 3;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: 1 | 2; readonly message?: string };
}

type Value = string | number | readonly string[] | undefined;
type Attribute = ReturnType<typeof toAttribute>;

const INTERNAL = 1;
const CLIENT = 3;
const FLUSH_MS = 5_000;
const EXPORT_MS = 10_000;
const MAX_SPANS = 2_000;

/**
 * Sends spans of runs, requests to models and tool calls to an OpenTelemetry collector, when the usual variables name
 * one. Texts, arguments and results are not part of them.
 */
export function traceSessions(
  events: ReadableTopic<AgentEvent>,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): AsyncDisposable | undefined {
  const url = toUrl(env);
  if (url === undefined) return undefined;
  const spans: Span[] = [];
  const runs = new Map<string, Run>();
  let hasFailed = false;
  const flush = async () => {
    const sent = spans.splice(0);
    if (sent.length === 0) return;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...toHeaders(env), "content-type": "application/json" },
        body: JSON.stringify(toRequest(sent, env)),
        signal: AbortSignal.timeout(EXPORT_MS),
      });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`status ${response.status}`);
    } catch (cause) {
      // Once: a collector that is down must not fill the screen.
      if (!hasFailed)
        log(`traces were not sent to ${url.origin}: ${cause instanceof Error ? cause.message : cause}`);
      hasFailed = true;
    }
  };
  const stop = events.listen(({ value: event }) => {
    if (!("at" in event)) return;
    const span = toSpans(event as StampedEvent, runs);
    if (spans.length < MAX_SPANS) spans.push(...span);
  });
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stop();
      await flush();
    },
  };
}

/** A run in progress. */
interface Run {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly began: string;
  /** When the last thing ended that a request to the model waits for. */
  waitsSince: string;
  model: string;
  provider: string;
  readonly calls: Map<string, { readonly spanId: string; readonly began: string }>;
}

function toSpans(event: StampedEvent, runs: Map<string, Run>): readonly Span[] {
  const { session_id, at } = event;
  if (event.type === "session_began") {
    runs.set(session_id, beginRun(at, runs.get(event.parent?.session_id ?? ""), event.model));
    return [];
  }
  const known = runs.get(session_id);
  const run = known ?? beginRun(at, undefined, { id: "", provider: "" });
  runs.set(session_id, run);
  const toSpan = createToSpan(run, session_id);
  switch (event.type) {
    case "model_changed":
      run.model = event.model.id;
      run.provider = event.model.provider;
      return [];
    case "user":
      run.waitsSince = at;
      return [];
    case "message": {
      const { usage } = event;
      return [
        toSpan(`chat ${run.model}`, CLIENT, newId(8), run.spanId, run.waitsSince, at, {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": run.model,
          "gen_ai.response.finish_reasons": [event.stop],
          "gen_ai.usage.input_tokens":
            usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
          "gen_ai.usage.output_tokens": usage.output_tokens,
          "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
          "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
        }),
      ];
    }
    case "tool_began":
      run.calls.set(event.call_id, { spanId: newId(8), began: at });
      return [];
    case "tool_ended": {
      const call = run.calls.get(event.call_id) ?? { spanId: newId(8), began: at };
      run.calls.delete(event.call_id);
      run.waitsSince = at;
      const about = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": event.call_id,
        "error.type": event.is_error ? (event.code ?? "failed") : undefined,
      };
      return [toSpan(`execute_tool ${event.name}`, INTERNAL, call.spanId, run.spanId, call.began, at, about)];
    }
    case "end": {
      runs.set(session_id, { ...beginRun(at, undefined, { id: run.model, provider: run.provider }) });
      const failed = event.reason === "done" ? undefined : event.reason;
      return [
        toSpan("invoke_agent octant", INTERNAL, run.spanId, run.parentSpanId, run.began, at, {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "octant",
          "error.type": failed,
        }),
      ];
    }
    default:
      return [];
  }
}

/** A sub-agent's run belongs to the call of its parent that is in progress. */
function beginRun(
  at: string,
  parent: Run | undefined,
  model: { readonly id: string; readonly provider: string },
): Run {
  const call = parent && [...parent.calls.values()].at(-1);
  return {
    traceId: parent?.traceId ?? newId(16),
    spanId: newId(8),
    parentSpanId: call?.spanId ?? parent?.spanId,
    began: at,
    waitsSince: at,
    model: model.id,
    provider: model.provider,
    calls: new Map(),
  };
}

const createToSpan =
  ({ traceId, provider }: Run, session_id: string) =>
  (
    name: string,
    kind: Span["kind"],
    spanId: string,
    parentSpanId: string | undefined,
    began: string,
    ended: string,
    about: Readonly<Record<string, Value>>,
  ): Span => ({
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: toNanoseconds(began),
    endTimeUnixNano: toNanoseconds(ended),
    attributes: toAttributes({
      ...about,
      "gen_ai.provider.name": provider,
      "gen_ai.conversation.id": session_id,
    }),
    status:
      about["error.type"] === undefined ? { code: 1 } : { code: 2, message: String(about["error.type"]) },
  });

const newId = (bytes: number): string => randomBytes(bytes).toString("hex");

const toNanoseconds = (iso: string): string => `${Date.parse(iso)}000000`;

const toAttributes = (values: Readonly<Record<string, Value>>): readonly Attribute[] =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [toAttribute(key, value)]));

function toAttribute(key: string, value: NonNullable<Value>) {
  if (typeof value === "string") return { key, value: { stringValue: value } };
  if (typeof value === "number") return { key, value: { intValue: `${value}` } };
  return { key, value: { arrayValue: { values: value.map((one) => ({ stringValue: one })) } } };
}

/** The address of the collector by the variables of the OpenTelemetry specification. */
function toUrl(env: NodeJS.ProcessEnv): URL | undefined {
  if (env["OTEL_SDK_DISABLED"] === "true" || env["OTEL_TRACES_EXPORTER"] === "none") return undefined;
  const traces = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const base = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const given = traces ?? (base && `${base.replace(/\/$/, "")}/v1/traces`);
  return given && URL.canParse(given) ? new URL(given) : undefined;
}

/** `key=value` pairs with percent encoding. */
const toPairs = (text: string | undefined): Record<string, string> =>
  Object.fromEntries(
    (text ?? "")
      .split(",")
      .map((pair) => pair.split("=", 2))
      .flatMap(([key = "", value]) => (value === undefined ? [] : [[key.trim(), decode(value.trim())]])),
  );

const decode = (text: string): string => attempt(() => decodeURIComponent(text)) ?? text;

const toHeaders = (env: NodeJS.ProcessEnv): Record<string, string> =>
  toPairs(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"] ?? env["OTEL_EXPORTER_OTLP_HEADERS"]);

const toRequest = (spans: readonly Span[], env: NodeJS.ProcessEnv) => ({
  resourceSpans: [
    {
      resource: {
        attributes: toAttributes({
          ...toPairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
          "service.name": env["OTEL_SERVICE_NAME"] ?? "octant",
          "service.version": loadVersion(),
        }),
      },
      scopeSpans: [{ scope: { name: "octant", version: loadVersion() }, spans }],
    },
  ],
});
