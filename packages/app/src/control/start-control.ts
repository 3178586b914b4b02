import { randomBytes } from "node:crypto";
import { describeQuestion, type Questions, ToolError, type Topics } from "@octant/core";
import { openSocketFolder, type Workspace } from "@octant/host";
import type { Redact } from "@octant/runtime";
import type { CallRecorder } from "../console/call-recorder.ts";
import type { PersonDesk } from "../console/person-desk.ts";
import type { Octant } from "../octant-api.ts";
import type { ClientList } from "./client-list.ts";
import type { ProcessStatus } from "./protocol.ts";
import type { SessionRoster } from "./session-roster.ts";

export interface ControlSources {
  readonly command: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly topics: Topics;
  readonly sessions: SessionRoster;
  readonly questions: Questions;
  readonly workspace: Workspace;
  readonly clients: ClientList;
  readonly calls: CallRecorder;
  readonly redact: Redact;
  /** With the API keys of the providers. */
  readonly keys: NodeJS.ProcessEnv;
  /** Known once the workspace is equipped. */
  octant(): Octant;
  log(line: string): void;
}

/** The socket at which other processes of this person reach this one. */
export interface Control extends AsyncDisposable {
  /** Names this process to them. */
  readonly id: string;
  /** When others can find it. */
  readonly opened: Promise<void>;
  /** Lets `octant console` of another process open a page of this one. */
  offerLink(link: () => string): void;
}

/** Opens the socket of this process when it is idle: no caller waits for it. */
export function startControl(sources: ControlSources): Control {
  const { env, log, topics, questions } = sources;
  const id = `${process.pid}-${randomBytes(4).toString("hex")}`;
  let link: (() => string) | undefined;
  let desk: Promise<PersonDesk> | undefined;
  const openDesk = () =>
    (desk ??= import("../console/person-desk.ts").then(({ createPersonDesk }) =>
      createPersonDesk({ ...sources, link: () => link?.() }),
    ));
  const started_at = new Date().toISOString();
  let isClosed = false;
  let running = 0;
  let control: Disposable | undefined;
  const stopCounting = topics.get("calls")?.events.listen(({ value }) => {
    running += Object(value).type === "started" ? 1 : -1;
  });
  const status = () => toStatus(sources, started_at, running);
  const open = async () => {
    const { serveControl } = await import("./serve-control.ts");
    const { createAttend } = await import("./attend.ts");
    if (isClosed) return;
    const folder = openSocketFolder(env);
    control = serveControl({
      folder,
      name: `${id}.sock`,
      topics,
      status,
      answer: questions.answer,
      attend: createAttend(sources),
      call: async (request, signal) => (await openDesk()).call(request, signal),
      log,
    });
  };
  const report = (cause: unknown) => {
    if (!(cause instanceof ToolError)) throw cause;
    log(`octant ps cannot show this process: ${cause.message}`);
  };
  // After the call that this process was started for.
  const opened = new Promise((resolve) => setImmediate(resolve)).then(open).catch(report);
  return {
    id,
    opened,
    offerLink(offered) {
      link = offered;
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      stopCounting?.();
      control?.[Symbol.dispose]();
      await (await desk)?.close();
    },
  };
}

function toStatus(sources: ControlSources, started_at: string, running_calls: number): ProcessStatus {
  const { command, version, workspace, clients } = sources;
  const questions = sources.questions
    .list()
    .map((one) => ({ ...one, text: describeQuestion(one).join("\n") }));
  const sessions = sources.sessions
    .list()
    .map((session) =>
      questions.some(({ caller }) => caller.endsWith(session.session_id))
        ? { ...session, state: "waiting" as const }
        : session,
    );
  const isWorking = running_calls > 0 || sessions.some(({ state }) => state === "working");
  return {
    pid: process.pid,
    version,
    command,
    started_at,
    roots: [...workspace.confinement.roots],
    clients: [...clients.list()],
    tools: [...sources.octant().registry.names()],
    state: questions.length > 0 ? "waiting" : isWorking ? "working" : "idle",
    running_calls,
    sessions,
    questions,
  };
}
