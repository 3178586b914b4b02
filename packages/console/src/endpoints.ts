import { type Access, type Caller, ToolError } from "@octant/core";
import type { z } from "zod";
import { AnswerRequest, type CallAnswer, type CallList, CallRequest, type CallRow, type Me } from "./api.ts";
import { mayRead } from "./event-reader.ts";
import type { Processes } from "./processes.ts";

export interface EndpointContext {
  readonly processes: Processes;
  /** The id of the process that serves the console. */
  readonly process: string;
  describe(caller: Caller): Me;
  isPerson?(caller: Caller): boolean;
}

/** An endpoint of the API: the source of its checks and of the table of the tests. */
export interface Endpoint<S extends z.ZodObject = z.ZodObject> {
  readonly summary: string;
  readonly method: "GET" | "POST";
  /** The least access of the caller. A call is checked by the pipeline of its process, as its action demands. */
  readonly access: Access;
  readonly body?: S;
  run(body: z.output<S>, caller: Caller, context: EndpointContext, signal: AbortSignal): unknown;
}

const define = <S extends z.ZodObject>(endpoint: Endpoint<S>): Endpoint =>
  // `run` gets what `body` has parsed.
  endpoint as unknown as Endpoint;

const me = define({
  summary: "The caller, and what it may do.",
  method: "GET",
  access: "read",
  run: (_, caller, { describe }) => describe(caller),
});

const processes = define({
  summary: "The Octant processes of this person, with their sessions and questions.",
  method: "GET",
  access: "read",
  async run(_, caller, { processes: all, process }) {
    const found = await all.list();
    if (caller.project === undefined) return found;
    // A caller of one project sees the server, and neither its sessions nor its questions, which are the person's.
    const own = found.processes.filter(({ id }) => id === process);
    return { ...found, processes: own.map((one) => ({ ...one, sessions: [], questions: [] })) };
  },
});

const calls = define({
  summary: "The newest calls that the console knows, from before the page was opened.",
  method: "GET",
  access: "read",
  run(_, caller, { processes: all }): CallList {
    const { events, next_seq } = all.events.read(
      0,
      (event) => event.topic === "calls" && mayRead(caller, event),
    );
    const rows = events.slice(-MAX_CALLS).map(({ value: { json, process } }) => ({
      // The console itself has written it.
      ...(JSON.parse(json) as CallRow),
      process,
    }));
    return { calls: rows, seq: next_seq - 1 };
  },
});

/** As many as processes remember in full. */
const MAX_CALLS = 1_000;

const call = define({
  summary: "Call a tool of a process, or the person's tool `console`, through the whole pipeline.",
  method: "POST",
  access: "read",
  body: CallRequest,
  async run({ process: named, ...request }, caller, context, signal): Promise<CallAnswer> {
    // A hub is the process that serves its console.
    const process = named === HUB ? context.process : named;
    if (caller.project !== undefined && process !== context.process) throw notFound(process);
    const as = caller.project === undefined ? toPerson(caller, context) : caller;
    return context.processes.call(process, { ...request, caller: as }, signal);
  },
});

const answer = define({
  summary: "Answer a question; the first answer counts.",
  method: "POST",
  access: "admin",
  body: AnswerRequest,
  async run({ process, question_id, ...given }, _caller, { processes: all }) {
    await all.answer(process, question_id, { ...given, by: "the console" });
    return {};
  },
});

const HUB = "hub";

export const ENDPOINTS: Readonly<Record<string, Endpoint>> = { me, processes, calls, call, answer };

/** A caller of the whole server sees what belongs to every caller. */
const toPerson = (caller: Caller, { isPerson }: EndpointContext) => ({
  id: caller.id,
  access: caller.access,
  sees: "all" as const,
  ...(caller.remote && !isPerson?.(caller) && { remote: true as const }),
});

const notFound = (id: string) => new ToolError("NOT_FOUND", `process ${id} is not running`, { id });
