import { watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "@octant/core";
import { openSocketFolder } from "@octant/host";
import { type ControlClient, connectTo, findProcesses, listSockets } from "./find-processes.ts";
import type { ControlEvent, ProcessStatus } from "./protocol.ts";

const SOCKET = ".sock";

/** The processes of this person by their ids, which change as processes come and go. */
export function connectToMachine(env: NodeJS.ProcessEnv, isShown: (id: string) => boolean) {
  const folder = openSocketFolder(env);
  return {
    list: (): readonly string[] =>
      listSockets(folder)
        .map((name) => name.slice(0, -SOCKET.length))
        .filter(isShown),
    connect: async (id: string): Promise<ControlClient | undefined> =>
      isShown(id) ? connectTo(folder, `${id}${SOCKET}`) : undefined,
    watch(onChange: () => void): () => void {
      const watcher = watch(folder, onChange);
      return () => watcher.close();
    },
  };
}

/** A process that was found but does not answer, such as a stopped one. */
export interface SilentProcess {
  readonly pid: number;
  readonly state: "not responding";
}

export async function loadStatuses(
  env: NodeJS.ProcessEnv = process.env,
): Promise<readonly (ProcessStatus | SilentProcess)[]> {
  const found = await findProcesses(env);
  return Promise.all(
    found.map(async (client) => {
      using process = client;
      try {
        return await process.status();
      } catch (cause) {
        if (!(cause instanceof ToolError)) throw cause;
        return { pid: process.pid, state: "not responding" } as const;
      }
    }),
  );
}

/** A question that waits in one of the processes. */
export interface WaitingQuestion {
  readonly pid: number;
  readonly client: ControlClient;
  readonly question: ProcessStatus["questions"][number];
}

/** The waiting questions of the processes; an edge and its server show the same ones, which are listed once. */
export async function listQuestions(clients: readonly ControlClient[]): Promise<readonly WaitingQuestion[]> {
  const all = await Promise.all(
    clients.map(async (client) => {
      // A process that does not respond has no questions to answer.
      const { questions } = await client.status().catch(() => ({ questions: [] }));
      return questions.map((question) => ({ pid: client.pid, client, question }));
    }),
  );
  return [...Map.groupBy(all.flat(), ({ question }) => question.question_id).values()].flatMap((same) =>
    same.slice(0, 1),
  );
}

export interface FollowOptions {
  /** Only this process. */
  readonly pid: string | undefined;
  /** All topics when absent. */
  readonly topics: string[] | undefined;
  /** Begin with the events that the processes have retained. */
  readonly retained: boolean;
}

/** Follows the events of running processes, and of those that start later. */
export async function followProcesses(
  env: NodeJS.ProcessEnv,
  { pid, topics, retained }: FollowOptions,
  onEvent: (event: ControlEvent, pid: number) => void,
) {
  const folder = openSocketFolder(env);
  const followed = new Set<string>();
  const connections = new DisposableStack();
  const followNew = async (retained: boolean): Promise<readonly Promise<unknown>[]> => {
    const fresh = listSockets(folder).filter(
      (name) => !followed.has(name) && (pid === undefined || name.startsWith(`${pid}-`)),
    );
    for (const name of fresh) followed.add(name);
    // One that does not listen yet changes the mode of its socket when it does, which is seen as a change.
    const clients = await Promise.all(
      fresh.map(async (name) => (await connectTo(folder, name)) ?? void followed.delete(name)),
    );
    const found = clients.filter((client) => client !== undefined).map((one) => connections.use(one));
    await Promise.all(
      found.map((client) =>
        client
          .follow({ topics, retained }, (event) => onEvent(event, client.pid))
          .catch(() => client[Symbol.dispose]()),
      ),
    );
    return found.map(({ closed }) => closed);
  };
  // Before the first look, so that no process is missed in between. Those that come later are followed from their
  // first event on: a server that answered its handshake from the cache opens its socket with its first call.
  connections.adopt(
    watch(folder, () => pid === undefined && void followNew(true)),
    (watcher) => watcher.close(),
  );
  try {
    return { closed: await followNew(retained), [Symbol.dispose]: () => connections.dispose() };
  } catch (cause) {
    connections.dispose();
    throw cause;
  }
}

export interface RunningConsole {
  /** Opens the page once. */
  readonly url: string;
  readonly pid: number;
  readonly roots: readonly string[];
}

export interface ConsoleSearch {
  /** One that works in these folders is preferred. */
  readonly roots: readonly string[];
  /** That of a hub, which shows the hub alone; otherwise one that shows all processes of the person. */
  readonly ofHub: boolean;
}

const SERVING = ["console", "serve --http"];
const LINK_MS = 5_000;
const PERSON = { id: "local", access: "admin" } as const;

/** A link of a console that runs already. */
export async function findConsole(
  env: NodeJS.ProcessEnv,
  { roots, ofHub }: ConsoleSearch,
): Promise<RunningConsole | undefined> {
  using connections = new DisposableStack();
  const clients = await findProcesses(env);
  // All of them first: a connection that stays open would keep this process alive after it printed the link.
  for (const client of clients) connections.use(client);
  const found = await Promise.all(
    clients.map(async (client) => {
      const tooLate = sleep(LINK_MS, undefined, { ref: false });
      return { client, status: await Promise.race([client.status().catch(() => undefined), tooLate]) };
    }),
  );
  const commands = ofHub ? ["hub"] : SERVING;
  const serving = found.flatMap(({ client, status }) =>
    status && commands.includes(status.command) ? { client, status } : [],
  );
  const isElsewhere = ({ status }: (typeof serving)[number]) =>
    roots.every((root) => status.roots.includes(root)) ? 0 : 1;
  for (const { client, status } of serving.toSorted((a, b) => isElsewhere(a) - isElsewhere(b))) {
    const request = { caller: PERSON, tool: "console", action: "link", input: {} };
    const answer = await client.call(request, AbortSignal.timeout(LINK_MS)).catch(() => undefined);
    const { url } = Object(answer?.envelope.data);
    if (typeof url === "string") return { url, pid: status.pid, roots: status.roots };
  }
  return undefined;
}
