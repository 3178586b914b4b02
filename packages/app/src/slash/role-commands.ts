import { type MemberInfo, type TextPart, textOf, withoutMentioned } from "@octant/agent";
import { counted, invalidArgument, ToolError } from "@octant/core";
import { asTurn } from "../agent/turns.ts";
import type { SlashCommand, SlashContext, SlashOutcome } from "./slash-command.ts";

const MAX_ROUNDS = 3;
const WAIT_MS = 60 * 60_000;

const roleCommand = (role: string, summary: string, fallback = ""): SlashCommand => ({
  name: role,
  argument: fallback === "" ? "TASK" : "[TASK]",
  summary,
  async run(task, context) {
    const line = `/${role} ${task}`.trim();
    const { report } = await undoable(line, context, () => runRole(role, task || fallback, context));
    await noteReport(line, report, context);
    return { text: report };
  },
});

export const ROLE_COMMANDS: readonly SlashCommand[] = [
  roleCommand("plan", "Let a sub-agent without tools write the steps of a task"),
  roleCommand("solve", "Let a sub-agent that only reads find a cause"),
  roleCommand("code", "Let a sub-agent carry out a task"),
  roleCommand(
    "review",
    "Let a sub-agent that only reads review a change",
    "Review the changes since the last commit.",
  ),
  {
    name: "auto",
    argument: "TASK",
    summary: "Plan, code and check a task with sub-agents, and repeat until it passes",
    run: (task, context) => undoable(`/auto ${task}`, context, () => auto(task, context)),
  },
  {
    name: "agents",
    summary: "List this session's sub-agents and the available roles",
    async run(_, { opened: { octant } }) {
      const crew = await octant.crew();
      const members = crew
        .list()
        .map(
          ({ agent_id, role, state, turns }) =>
            `- \`${agent_id}\` ${role}: ${state} after ${counted(turns, "turn")}`,
        );
      const roles = crew.roles.map(({ name, summary }) => `- **${name}** ${summary}`);
      const left = (await crew.left()).map((line) => `- ${line}`);
      const lists = [members.join("\n") || "no sub-agents yet", left.join("\n"), "roles:", roles.join("\n")];
      return { text: lists.filter(Boolean).join("\n\n") };
    },
  },
  {
    name: "init",
    summary: "Let the agent write AGENTS.md for this project",
    run: () => ({
      send: "Look at this project and write AGENTS.md: what it is, how it is built, tested and run, its layout, and conventions an agent must follow. At most 80 lines; only what you have verified. If AGENTS.md exists, improve it.",
    }),
  },
];

/** Changes during a run of the conversation belong to its turn. */
const undoable = <T>(line: string, { opened: { host, agent } }: SlashContext, work: () => Promise<T>) =>
  agent.isRunning ? work() : asTurn(host.turns, agent.session, line, work);

/** The model of the conversation reads the report with the next message. */
const noteReport = (line: string, report: string, { opened }: SlashContext): Promise<void> =>
  opened.agent.note(`The person ran ${line}. The report of the sub-agent:\n\n${report}`);

const MAX_CONTEXT_CHARS = 8_000;

/** The end of the conversation, as far as a sub-agent needs it: what was said, without calls and their results. */
function conversationOf({ opened: { agent } }: SlashContext): string {
  const said = agent.session.conversation.messages.flatMap((message) => {
    const text =
      message.role === "tool" ? "" : textOf(withoutMentioned(message.content.filter(isText))).trim();
    if (text === "") return [];
    return [message.role === "assistant" ? `Agent: ${text}` : `Person: ${text}`];
  });
  const end = said.join("\n\n").slice(-MAX_CONTEXT_CHARS).toWellFormed();
  return end === ""
    ? ""
    : `The end of the conversation that this task comes from, for reference:\n\n${end}\n\nHere the conversation ends. Your task is what this message begins with.`;
}

const isText = (part: { readonly type: string }): part is TextPart => part.type === "text";

async function runRole(role: string, task: string, context: SlashContext): Promise<MemberInfo> {
  const { opened, signal } = context;
  if (task === "")
    throw invalidArgument(
      "",
      `/${role} needs a task${role === "plan" ? "; Shift-Tab or /mode plan lets the agent only read" : ""}`,
    );
  const crew = await opened.octant.crew();
  const parent = opened.agent.session.id;
  const { agent_id } = await crew.spawn({ role, task }, parent, signal, conversationOf(context));
  const [info] = await crew.await([agent_id], { parent, until: "all", ms: WAIT_MS, signal });
  if (info?.state === "done") return info;
  if (info?.reason?.startsWith("max_"))
    throw new ToolError("LIMIT_EXCEEDED", `the sub-agent for ${role} was stopped: ${info.report}`, {
      limit: info.reason === "max_cost" ? crew.limits.max_cost : info.turns,
    });
  throw new ToolError(
    "UPSTREAM_ERROR",
    `the sub-agent for ${role} ended with ${info?.reason}: ${info?.report}`,
    {},
  );
}

/**
 * Runs plan → code → solve, each with the output of the previous one, and repeats with the objections while
 * solve says FAIL.
 */
async function auto(task: string, context: SlashContext): Promise<SlashOutcome> {
  const plan = await runRole("plan", task, context);
  let objections = "";
  for (let round = 1; ; round++) {
    const code = await runRole("code", `${task}\n\nThe plan:\n${plan.report}${objections}`, context);
    const check = await runRole(
      "solve",
      `Check whether this task is done completely and rightly. Begin with PASS or FAIL.\n\nThe task:\n${task}\n\nWhat was done:\n${code.report}`,
      context,
    );
    const isPassed = /^\W*PASS\b/.test(check.report);
    if (isPassed || round === MAX_ROUNDS) {
      const head = isPassed ? `passed in round ${round}` : `**not passed after ${round} rounds**`;
      const text = `${head}\n\n${code.report}\n\n${check.report}`;
      await noteReport(`/auto ${task}`, text, context);
      return { text, failed: !isPassed };
    }
    objections = `\n\nThe last attempt did not pass:\n${check.report}`;
  }
}
