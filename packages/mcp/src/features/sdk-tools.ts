import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Reply } from "@octant/core";
import { toCallToolResult } from "../answer.ts";
import type { Plain } from "../messages.ts";
import type { Service } from "../service.ts";
import { type RunTool, unknownTool } from "../tool-runner.ts";
import type { Era } from "./capabilities.ts";
import { answerOrAsk, declaredBy } from "./sdk-asking.ts";
import { createTaskInputs } from "./task-inputs.ts";
import { jobOf, knowsTasks, toLegacyTask, toModernTask } from "./task-wire.ts";

export function serveTools(server: Server, service: Service, runTool: RunTool, era: Era): void {
  server.setRequestHandler("tools/list", (request) => {
    if (request.params?.cursor !== undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid cursor: the tool list has one page");
    }
    const { tools, legacyTools } = service.listing();
    // The SDK's types ask for mutable copies of what it only serialises.
    return { tools: (era === "legacy" && service.tasks ? legacyTools : tools) as never };
  });
  server.setRequestHandler("tools/call", async (request, context) => {
    const { name, arguments: args = {} } = request.params;
    const asTask = toTaskMaker(service, era, context, request.params);
    const result = await answerOrAsk({ server, service, era, context, subject: name, args }, async (ways) => {
      const { mcpReq } = context;
      const inputs = createTaskInputs();
      let answered = false;
      service.lend(ways.exchange, mcpReq.signal);
      const reply = runTool(
        { name, args, meta: mcpReq._meta },
        {
          signal: mcpReq.signal,
          // It rejects once the request is cancelled; nobody waits for progress then.
          notify: (params) => {
            mcpReq.notify({ method: "notifications/progress", params: { ...params } }).catch(() => {});
          },
          ask: (question, signal) => (answered ? inputs : ways).ask(question, signal),
        },
      );
      if (!reply) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name, service));
      const settled = await settle(reply, name, service);
      answered = asTask !== undefined && era === "modern" && jobOf(settled.envelope) !== undefined;
      return (await asTask?.(settled, inputs)) ?? toCallToolResult(settled);
    });
    // Its types know results of tools only.
    return { ...result } as never;
  });
}

async function settle(reply: Promise<Reply>, name: string, service: Service): Promise<Reply> {
  try {
    return await reply;
  } catch (cause) {
    service.log(`tools/call ${name} failed outside the dispatcher: ${cause}`);
    throw new ProtocolError(ProtocolErrorCode.InternalError, "Internal error");
  }
}

type TaskMaker = (reply: Reply, inputs: ReturnType<typeof createTaskInputs>) => Promise<Plain | undefined>;

/** In the handshake revisions the client asks for a task; now it only says that it knows them. */
function toTaskMaker(
  service: Service,
  era: Era,
  context: ServerContext,
  params: object,
): TaskMaker | undefined {
  const { tasks, caller } = service;
  if (!tasks) return undefined;
  if (era === "legacy") {
    if (!("task" in params)) return undefined;
    return async (reply, inputs) => {
      const job = jobOf(reply.envelope);
      const task =
        job === undefined ? tasks.keep(caller.id, reply) : await tasks.begin(caller.id, job, inputs);
      // The SDK lets no result of a tool pass without content.
      return { content: [], task: toLegacyTask(task) };
    };
  }
  if (!knowsTasks(declaredBy(context))) return undefined;
  return async (reply, inputs) => {
    const job = jobOf(reply.envelope);
    return job === undefined
      ? undefined
      : { resultType: "task", ...toModernTask(await tasks.begin(caller.id, job, inputs)) };
  };
}
