import { once } from "node:events";
import { request } from "node:http";
import { createInterface } from "node:readline";
import type { CallAnswer, ConsoleEvent, Me, OctantProcess } from "../packages/console/src/api.ts";
import { startOctant } from "./octant-process.ts";

export interface Place {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** `octant console` as a person starts it, without a browser. */
export async function startConsole(at: Place, args: readonly string[] = ["console", "--no-open", "--json"]) {
  const child = startOctant(args, at);
  let log = "";
  child.stderr.on("data", (text: Buffer) => {
    log += text;
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(() => Promise.reject(new Error(`it has ended: ${log}`))),
  ]);
  const printed = JSON.parse(line);
  const link: string = printed.console ?? printed.url;
  return {
    link,
    token: printed.token as string | undefined,
    origin: new URL(link).origin,
    log: () => log,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

export type ConsolePage = Awaited<ReturnType<typeof openPage>>;

/** What the page does: redeems the link, and sends the cookie and the key with every request. */
export async function openPage(link: string) {
  const { origin } = new URL(link);
  const opened = await fetch(link, { redirect: "manual" });
  if (opened.status !== 303) throw new Error(`the link answers with ${opened.status}`);
  const [cookie = ""] = opened.headers.get("set-cookie")?.split(";") ?? [];
  const key = new URL(opened.headers.get("location") ?? "", origin).hash.slice("#key=".length);
  const headers = { cookie, origin, "x-octant-console": key, "content-type": "application/json" };
  const api = (path: string) => new URL(`/console/api/${path}`, origin);
  const get = async (path: string) => (await fetch(api(path), { headers })).json();
  const post = async (path: string, body: unknown) =>
    (await fetch(api(path), { method: "POST", headers, body: JSON.stringify(body) })).json();
  const me: Me = await get("me");
  const call = async (process: string, tool: string, action: string, input: object = {}) =>
    ((await post("call", { process, tool, action, input })) as CallAnswer).envelope;
  return {
    me,
    origin,
    cookie,
    headers,
    get,
    post,
    processes: async (): Promise<readonly OctantProcess[]> => (await get("processes")).processes,
    call,
    /** Another one-time link. */
    link: async (): Promise<string> => Object((await call(me.process, "console", "link")).data).url,
    follow: (after?: number) => followEvents(api("events"), headers, after),
  };
}

/** An event stream; the events are collected until it is closed. */
export async function followEvents(url: URL, headers: Record<string, string>, after?: number) {
  const events: ConsoleEvent[] = [];
  let lost = 0;
  let last = 0;
  const sent = request(url, {
    headers: { ...headers, ...(after !== undefined && { "last-event-id": String(after) }) },
  }).end();
  const [response] = await once(sent, "response");
  const first = Promise.withResolvers<void>();
  const lines = createInterface({ input: response });
  lines.on("error", () => {});
  lines.on("line", (line) => {
    if (line.startsWith("id: ")) last = Number(line.slice("id: ".length));
    if (!line.startsWith("data: ")) return;
    const batch = JSON.parse(line.slice("data: ".length));
    events.push(...batch.events);
    lost += batch.lost ?? 0;
    first.resolve();
  });
  response.on("error", () => {});
  if (after === undefined) await first.promise;
  return {
    events,
    response,
    lost: () => lost,
    last: () => last,
    of: (topic: string) => events.filter((one) => one.topic === topic),
    [Symbol.dispose]: () => void sent.destroy(),
  };
}
