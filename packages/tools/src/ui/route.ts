import {
  action,
  type Context,
  matchWildcards,
  ofKind,
  pagingInput,
  Ref,
  Uri,
  type Wildcard,
} from "@octant/core";
import { invalid, type Profile as OpenProfile, type Route, UNTRUSTED } from "@octant/host";
import { z } from "zod";
import { findProfile, type UiOptions } from "./acting.ts";
import { OUTPUT_ERRORS } from "./files.ts";
import { runHar } from "./har.ts";
import { Output, PageProfile } from "./inputs.ts";

const MAX_BODY_CHARS = 1024 * 1024;
const MAX_ROUTES = 100;
const MAX_DELAY_MS = 60_000;

/** With `mock` it is the response; with `modify` the new request. */
const Respond = z
  .strictObject({
    status: z.int().min(100).max(599),
    headers: z.record(z.string().max(200), z.string().max(8_000)),
    body: z.string().max(MAX_BODY_CHARS),
    json: z.json(),
    method: z.string().max(20),
    url: ofKind(
      "host",
      z
        .string()
        .max(4_000)
        .regex(/^https?:\/\//, "requests go to http and https only"),
    ),
    delay: z.int().min(0).max(MAX_DELAY_MS),
  })
  .partial();

const Entry = z.object({
  method: z.string(),
  url: z.string(),
  type: z.string(),
  status: z.int().optional(),
  ms: z.int().optional(),
  failure: z.string().optional(),
});

const Input = z.strictObject({
  op: z.enum(["mock", "block", "modify", "remove", "list", "log", "har_start", "har_stop", "har_replay"]),
  pattern: z.string().min(1).max(2_000).optional().describe("Glob of URLs: **/api/**"),
  respond: Respond.optional().describe("mock: the answer; modify: the new request"),
  uri: Uri.optional().describe("har_replay"),
  output: Output.optional(),
  profile: PageProfile,
  ...pagingInput(50, 500),
});
type Input = z.output<typeof Input>;

/** The routing of a profile's requests; it ends with the profile. */
interface Routing {
  rules: { readonly op: string; readonly pattern: string; matches(url: URL): boolean }[];
  /** The folder of the HAR that is being recorded. */
  har?: Parameters<typeof runHar>[2]["har"];
}

export const route = (options: UiOptions) => {
  const known = new WeakMap<OpenProfile, Routing>();
  const routingOf = (profile: OpenProfile): Routing => {
    const routing = known.get(profile) ?? { rules: [] };
    known.set(profile, routing);
    return routing;
  };
  return action({
    summary: "Mock, block, modify or list a page's requests; record or replay them as HAR.",
    listing: "brief",
    access: "write",
    timing: "async_short",
    intent: "verify",
    input: Input,
    output: z.object({
      routes: z.array(z.string()).optional(),
      requests: z.array(Entry).optional(),
      done: z.string().optional(),
      uri: Uri.optional(),
      undo: Ref.nullable().optional(),
      notice: z.string(),
    }),
    errors: ["NOT_FOUND", "LIMIT_EXCEEDED", ...OUTPUT_ERRORS, "TOO_LARGE", "UPSTREAM_ERROR", "CONFLICT"],
    examples: [
      {
        title: "Mock an API",
        input: { op: "mock", pattern: "**/api/cart", respond: { json: { items: [] } } },
        fails: "NOT_FOUND",
      },
      { title: "List requests", input: { op: "log" }, fails: "NOT_FOUND" },
    ],
    async run(input, ctx) {
      const profile = findProfile(options, input.profile, ctx);
      const { op } = input;
      if (op === "log") return { requests: listRequests(profile, input, ctx), notice: UNTRUSTED };
      const routing = routingOf(profile);
      if (op.startsWith("har"))
        return { ...(await runHar(options, profile, routing, input, ctx)), notice: UNTRUSTED };
      await changeRoutes(profile, routing, input);
      return { routes: shownRules(routing), notice: UNTRUSTED };
    },
    text: ({ routes, requests, done, uri }, reader) => ({
      body: [
        ...(routes?.length === 0 ? ["no routes"] : (routes ?? [])),
        ...(requests ?? []).map(
          ({ method, url, type, status, ms, failure }) =>
            `${method} ${status ?? "-"} ${url} (${type}${ms === undefined ? "" : `, ${ms} ms`})${failure ? ` failed: ${failure}` : ""}`,
        ),
        ...(done ? [uri ? `${done} ${reader.path(uri)}` : done] : []),
      ].join("\n"),
      notes: [requests !== undefined && UNTRUSTED],
    }),
  });
};

const shownRules = ({ rules }: Routing) => rules.map(({ op, pattern }) => `${op} ${pattern}`);

async function changeRoutes(
  profile: OpenProfile,
  routing: Routing,
  { op, pattern, respond = {} }: Input,
): Promise<void> {
  if (op === "list") return;
  if (pattern === undefined && op !== "remove") throw invalid("pattern", `is needed with op ${op}`);
  const { rules: known } = routing;
  const gone = known.filter((rule) => pattern === undefined || rule.pattern === pattern);
  if (op === "remove" && pattern !== undefined && gone.length === 0)
    throw invalid("pattern", `no route has it; there are: ${shownRules(routing).join(", ") || "none"}`);
  for (const rule of gone) {
    await profile.equip(`route ${rule.pattern}`);
    await profile.context.unroute(rule.matches);
  }
  const kept = known.filter((rule) => !gone.includes(rule));
  routing.rules = kept;
  if (op === "remove" || pattern === undefined) return;
  if (kept.length >= MAX_ROUTES) throw invalid("pattern", `${MAX_ROUTES} routes are set; remove some`);
  const fits = toMatcher(pattern);
  // The browser library would make a regular expression of the pattern, which can take for ever.
  const matches = ({ href }: URL) => fits(href);
  kept.push({ op, pattern, matches });
  await profile.equip(`route ${pattern}`, async (context) => {
    await context.route(matches, (one) => answer(one, op, respond));
  });
}

async function answer(one: Route, op: string, respond: z.output<typeof Respond>): Promise<void> {
  const { status, headers, body, json, method, url, delay = 0 } = respond;
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  try {
    if (op === "block") return await one.abort("blockedbyclient");
    if (op === "mock")
      return await one.fulfill({
        status: status ?? 200,
        ...(json === undefined ? { body: body ?? "" } : { json }),
        ...(headers && { headers }),
      });
    await one.continue({
      ...(headers && { headers: { ...one.request().headers(), ...headers } }),
      ...(method && { method }),
      ...(body !== undefined && { postData: body }),
      ...(url && { url }),
    });
  } catch {
    // The page closed while its request was waiting; or the browser refused the change, and the page must not hang.
    await one.abort().catch(() => {});
  }
}

function listRequests(profile: OpenProfile, { pattern, limit }: Input, ctx: Context) {
  const before = ctx.resume(z.int()) ?? Number.POSITIVE_INFINITY;
  const matches = toMatcher(pattern);
  const found = profile.activity.requests.filter(({ number, url }) => number < before && matches(url));
  const page = found.slice(-limit);
  if (found.length > limit) ctx.more(page[0]?.number);
  return page.map(({ number: _number, tab: _tab, ...entry }) => ({
    ...entry,
    url: entry.url.slice(0, 1_000),
  }));
}

const MAX_ALTERNATIVES = 256;

/** `*` stays within a path segment, `**` does not, and `{a,b}` is one of them. */
function toMatcher(pattern: string | undefined): (url: string) => boolean {
  if (pattern === undefined) return () => true;
  const alternatives = withoutBraces(pattern).map((one) =>
    (one.match(/\*\*?|[^*]/gu) ?? []).map((part): Wildcard => {
      if (part === "**") return { many: () => true };
      return part === "*" ? { many: (char) => char !== "/" } : { one: (char) => char === part };
    }),
  );
  return (url) => alternatives.some((parts) => matchWildcards(parts, url));
}

function withoutBraces(pattern: string): readonly string[] {
  let patterns = [pattern];
  for (let found = BRACES.exec(pattern); found; found = BRACES.exec(patterns[0] ?? "")) {
    patterns = patterns.flatMap((one) => {
      const [whole = "", inside = ""] = BRACES.exec(one) ?? [];
      return inside.split(",").map((choice) => one.replace(whole, () => choice));
    });
    if (patterns.length > MAX_ALTERNATIVES)
      throw invalid("pattern", `has more than ${MAX_ALTERNATIVES} alternatives in {…}`);
  }
  return patterns;
}

/** The innermost pair. */
const BRACES = /\{([^{}]*)\}/;
