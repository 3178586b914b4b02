import { type Ask, type Caller, createRegistry } from "@octant/core";
import type { ControlCallAnswer } from "../control/protocol.ts";
import type { CallRequest } from "../control/serve-control.ts";
import type { ControlSources } from "../control/start-control.ts";
import { createConsoleTool } from "./console-tool.ts";
import { CONSOLE } from "./name.ts";
import { createSessionDesk } from "./session-desk.ts";

export type PersonDesk = ReturnType<typeof createPersonDesk>;

/** Runs the calls that come through the control socket: of the tools of this process, and of the person's own tool. */
export function createPersonDesk(sources: ControlSources & { link(): string | undefined }) {
  const { octant: find, calls, redact, keys, version, link, log } = sources;
  const octant = find();
  const desk = createSessionDesk({ roots: octant.workspace.confinement.roots, env: keys, log });
  const tool = createConsoleTool({ octant, version, env: keys, calls, redact, desk, link });
  const registry = createRegistry([tool]);
  const change = octant.dispatchAsPerson(registry);
  const look = octant.dispatchUnrecorded(registry);
  const changes: ReadonlySet<string> = new Set(
    Object.entries(tool.actions).flatMap(([name, { access }]) => (access === "read" ? [] : [name])),
  );
  const watch = octant.dispatchLooking(octant.registry);
  /** The page reads lists again and again; that would fill the log and the list of calls. */
  const dispatchOf = (caller: Caller, name: string, action: string) => {
    const isLook = octant.registry.get(name)?.actions[action]?.access === "read";
    return isLook && isPerson(caller) ? watch : octant.dispatch;
  };
  return {
    async call(
      { caller, tool: name, action, input }: CallRequest,
      signal: AbortSignal,
    ): Promise<ControlCallAnswer> {
      const dispatch =
        name === CONSOLE ? (changes.has(action) ? change : look) : dispatchOf(caller, name, action);
      const { envelope, attachments } = await dispatch(
        { tool: name, action, input },
        { caller: caller satisfies Caller, signal, ...(isPerson(caller) && { ask: answerOwnCall }) },
      );
      return {
        envelope,
        attachments: attachments.map(({ kind, mime, bytes }) => ({
          kind,
          mime,
          base64: Buffer.from(bytes).toString("base64"),
        })),
      };
    },
    close: () => desk.close(),
  };
}

const isPerson = ({ access, sees, remote }: Caller): boolean =>
  access === "admin" && sees === "all" && remote !== true;

/**
 * The person who makes a call has consented to it, so the question whether it may run is not asked. A call without a
 * sandbox and questions of the call itself are still shown.
 */
const answerOwnCall: Ask = async (question) =>
  question.kind === "permission" && !question.risk.includes("unconfined")
    ? { answer: "once", by: "the console" }
    : undefined;
