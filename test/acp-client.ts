import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import {
  type AnyMessage,
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { createScriptedProvider, type Script, type ScriptedProvider } from "@octant/scripted-provider";
import { Ajv2020 } from "ajv/dist/2020.js";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";
import { startOctant } from "./octant-process.ts";
import { accountAt } from "./scripted-account.ts";

const require = createRequire(import.meta.url);
const schema = JSON.parse(
  readFileSync(require.resolve("@agentclientprotocol/sdk/schema/v1/schema.json"), "utf8"),
);
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, "acp");
const validators = new Map<string, ReturnType<typeof ajv.compile>>();

/** The published schema of a method's parameters or result. */
function definitionOf(method: string, kind: "Request" | "Response" | "Notification"): string | undefined {
  return Object.entries<Record<string, unknown>>(schema.$defs).find(
    ([name, definition]) => definition["x-method"] === method && name.endsWith(kind),
  )?.[0];
}

function problemsOf(name: string | undefined, value: unknown): string[] {
  if (name === undefined) return [];
  let validate = validators.get(name);
  if (!validate) {
    validate = ajv.compile({ $ref: `acp#/$defs/${name}` });
    validators.set(name, validate);
  }
  return validate(value) ? [] : [`${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`];
}

export interface AcpClientOptions {
  readonly script: Script;
  readonly capabilities?: ClientCapabilities;
  readonly args?: readonly string[];
  readonly project?: FixtureProject;
  readonly env?: NodeJS.ProcessEnv;
  readonly node?: string | undefined;
  /** The option that the person chooses; "cancelled" closes the question. */
  readonly answer?: (request: RequestPermissionRequest) => string | Promise<string>;
  readonly files?: Map<string, string>;
  readonly onUpdate?: (update: SessionUpdate, sessionId: string) => void;
  /** Serves further requests of the agent, such as for terminals. */
  readonly serve?: (method: string, params: Record<string, unknown>) => unknown;
}

export interface AcpClient extends AsyncDisposable {
  readonly agent: ClientContext;
  readonly project: FixtureProject;
  readonly provider: ScriptedProvider;
  /** All updates so far, oldest first. */
  readonly updates: SessionUpdate[];
  readonly asked: RequestPermissionRequest[];
  /** The forms that the person was shown; each is accepted with these values. */
  readonly forms: CreateElicitationRequest[];
  values: Record<string, string>;
  readonly saved: Map<string, string>;
  /** The person's answer from now on. */
  answer: NonNullable<AcpClientOptions["answer"]>;
  /** Violations of the published schema by the agent's messages. */
  readonly problems: string[];
  readonly stderr: () => string;
  newSession(): Promise<string>;
  prompt(sessionId: string, text: string): Promise<string>;
  text(): string;
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit code once stdin has ended. */
  end(): Promise<number | null>;
}

/** The official client side on the real command, with a scripted model; every message is validated. */
export async function openAcpClient(options: AcpClientOptions): Promise<AcpClient> {
  const { files = new Map(), capabilities = {} } = options;
  const provider = await createScriptedProvider(options.script);
  const project = options.project ?? createFixtureProject();
  const child = startOctant(
    ["acp", "--provider", "anthropic", "--model", "some-model", ...(options.args ?? [])],
    {
      cwd: project.root,
      env: {
        ...project.env,
        ...accountAt(provider),
        ...options.env,
      },
      node: options.node,
    },
  );
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const forms: CreateElicitationRequest[] = [];
  const saved = new Map<string, string>();
  const problems: string[] = [];
  const sent = new Map<unknown, string>();

  const check = (message: AnyMessage) => {
    const { method, params, id, result } = message as Record<string, unknown>;
    if (typeof method === "string")
      problems.push(
        ...problemsOf(definitionOf(method, id === undefined ? "Notification" : "Request"), params),
      );
    else if (result !== undefined)
      problems.push(...problemsOf(definitionOf(sent.get(id) ?? "", "Response"), result));
  };
  const raw = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const readable = raw.readable.pipeThrough(
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        check(message);
        controller.enqueue(message);
      },
    }),
  );
  const outgoing = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      if ("method" in message && "id" in message) sent.set(message.id, message.method);
      controller.enqueue(message);
    },
  });
  void outgoing.readable.pipeTo(raw.writable).catch(() => {});

  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }: { params: SessionNotification }) => {
      updates.push(params.update);
      options.onUpdate?.(params.update, params.sessionId);
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      asked.push(params);
      const optionId = await made.answer(params);
      return optionId === "cancelled"
        ? { outcome: { outcome: "cancelled" } }
        : { outcome: { outcome: "selected", optionId } };
    })
    .onRequest(methods.client.elicitation.create, ({ params }) => {
      forms.push(params);
      return { action: "accept", content: made.values };
    })
    .onRequest(methods.client.fs.readTextFile, ({ params }) => {
      const content = files.get(params.path);
      if (content === undefined) throw new Error("not open");
      return { content };
    })
    .onRequest(methods.client.fs.writeTextFile, ({ params }) => {
      saved.set(params.path, params.content);
      files.set(params.path, params.content);
      options.serve?.("fs/write_text_file", params);
      return {};
    });
  for (const method of Object.values(methods.client.terminal))
    app.onRequest(
      method as string,
      (params: unknown) => params as Record<string, unknown>,
      ({ params }) => options.serve?.(method, params) ?? {},
    );
  const connection = app.connect({ readable, writable: outgoing.writable });
  const { agent } = connection;

  const end = async () => {
    child.stdin.end();
    return exited;
  };
  const made: AcpClient = {
    agent,
    answer: options.answer ?? (() => "once"),
    project,
    provider,
    updates,
    asked,
    forms,
    values: {},
    saved,
    problems,
    stderr: () => stderr,
    async newSession() {
      const { sessionId } = await agent.request(methods.agent.session.new, {
        cwd: project.root,
        mcpServers: [],
      });
      return sessionId;
    },
    async prompt(sessionId, text) {
      const { stopReason } = await agent.request(methods.agent.session.prompt, {
        sessionId,
        prompt: [{ type: "text", text }],
      });
      return stopReason;
    },
    text: () => textOf(updates),
    kill: (signal) => void child.kill(signal),
    end,
    async [Symbol.asyncDispose]() {
      await end();
      await provider.close();
      if (!options.project) project[Symbol.dispose]();
    },
  };
  await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities });
  return made;
}

const textOf = (updates: readonly SessionUpdate[]): string =>
  updates
    .flatMap((one) =>
      one.sessionUpdate === "agent_message_chunk" && one.content.type === "text" ? [one.content.text] : [],
    )
    .join("");
