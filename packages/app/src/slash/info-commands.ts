import {
  type Call,
  counted,
  createToText,
  didYouMean,
  invalidArgument,
  isSessionMode,
  MODES,
  SESSION_MODES,
  ToolError,
  toOneLine,
} from "@octant/core";
import type { ServerStatus } from "@octant/mcp-client";
import {
  ALWAYS_DAYS,
  describeRule,
  inDays,
  isExpired,
  type PermissionRule,
  ruleInWords,
  ToolPattern,
} from "@octant/runtime";
import { z } from "zod";
import { describeMode, toModePrompt } from "../agent/session-mode.ts";
import { LOCAL_CALLER } from "../edges.ts";
import { keepRule } from "../policy.ts";
import { asBlock, type SlashCommand, type SlashContext, type SlashOutcome } from "./slash-command.ts";

const NONE = "default";

const mode: SlashCommand = {
  name: "mode",
  onlyWithLocalTools: true,
  argument: "[NAME]",
  summary:
    "Show the modes, or work in one: ask, edits, sandbox, plan, or a developer mode, which default ends",
  complete: ({ opened: { octant } }) => [...SESSION_MODES, ...octant.modes.all.map(({ name }) => name), NONE],
  async run(name, { opened, hasInput = false }) {
    const { octant, agent, caller: id } = opened;
    const { conversation } = agent.session;
    const { modes } = octant;
    const note =
      conversation.model || hasInput
        ? ""
        : "\n\nThis run has no session yet, so nothing is stored; `--continue` or `--resume` sets it for a session.";
    if (name === "") {
      const now = [modes.session(id), modes.current(id)?.name].filter((one) => one !== undefined);
      return {
        text: [
          `mode: ${now.join(", ")}`,
          ...SESSION_MODES.map((one) => `- **${one}** ${MODES[one].summary}`),
          ...modes.all.map((one) => `- **${one.name}** ${one.summary}`),
        ].join("\n"),
      };
    }
    if (isSessionMode(name)) {
      modes.setSession(id, name);
      return { text: `${await describeMode(octant, name)}${note}` };
    }
    if (name === NONE) {
      const ended = modes.current(id);
      if (ended) agent.queue(`The developer mode ${ended.name} has ended.`);
      modes.activate(id, undefined);
      return { text: `mode: ${modes.session(id)}, without a developer mode` };
    }
    const names = [...SESSION_MODES, ...modes.all.map((one) => one.name), NONE];
    if (!names.includes(name)) {
      const message = `there is no mode '${name}'; modes: ${names.join(", ")}${didYouMean(name, names)}`;
      throw new ToolError("NOT_FOUND", message, { id: name });
    }
    const { summary, prompt } = modes.activate(id, name) ?? modes.find(name);
    agent.queue(toModePrompt(name, prompt));
    return { text: `mode: ${name}. ${summary}${note}` };
  },
};

const RULE_MODES = { allow: "allow", deny: "deny", ask: "prompt" } as const;
const CHANGE = /^(allow|deny|ask)\s+(\S+)(\s+always)?$/;

const permissions: SlashCommand = {
  name: "permissions",
  onlyWithLocalTools: true,
  argument: "[allow|deny|ask PATTERN [always]]",
  summary: "Show the permission rules, or set one for this session; always writes it to your settings too",
  complete: () => ["allow", "deny", "ask"],
  run: (argument, context) => (argument === "" ? show(context) : change(argument, context)),
};

function show({ opened: { octant, agent } }: SlashContext): SlashOutcome {
  const own = octant.sessionRules.rules(agent.session.id).map((rule) => ["session", rule] as const);
  const set = octant.config.permissions.flatMap(({ tier, rules }) =>
    rules.map((rule) => [tier, rule] as const),
  );
  const lines = [...own, ...set].flatMap(([tier, rule]) => {
    const [head, ...commands] = ruleInWords(rule);
    return [`- ${tier}, ${lasting(tier, rule)}: ${head}`, ...commands.map((line) => `  - ${line.trim()}`)];
  });
  return { text: lines.join("\n") || "there are no rules; calls that change something are asked about" };
}

function lasting(tier: string, rule: PermissionRule): string {
  if (tier === "session") return "until it ends";
  const { expires_at } = rule;
  if (expires_at === undefined) return "for good";
  return `${isExpired(rule) ? "expired on" : "until"} ${expires_at.slice(0, 10)}`;
}

async function change(argument: string, { opened }: SlashContext): Promise<SlashOutcome> {
  const { octant, agent } = opened;
  const [, verb, pattern = "", always] = CHANGE.exec(argument) ?? [];
  if (verb === undefined || !ToolPattern.safeParse(pattern).success)
    throw invalidArgument(
      "",
      "/permissions takes allow, deny or ask, and a pattern such as fs.* or proc.exec",
    );
  // The regular expression matches only these verbs.
  const rule: PermissionRule = { tool_pattern: pattern, mode: RULE_MODES[verb as keyof typeof RULE_MODES] };
  octant.sessionRules.setRule(agent.session.id, rule);
  const shown = `\`${describeRule(rule)}\``;
  if (always === undefined) return { text: `${shown} for this session` };
  const kept = verb === "allow" ? { ...rule, expires_at: inDays(ALWAYS_DAYS) } : rule;
  const { trusted } = await keepRule(octant.workspace, kept, opened.env);
  const note = trusted ? "" : "; it waits for your trust with the rest of that file: `octant trust`";
  return { text: `\`${describeRule(kept)}\` from now on, in \`.hanzo/settings.local.json\`${note}` };
}

function describeServer({ state, reason = "", tools, changed }: ServerStatus): string {
  if (state === "ready")
    return `connected, ${counted(tools, "tool")}${changed > 0 ? `, ${changed} wait for consent` : ""}`;
  if (state === "connecting") return "starting";
  return `${STATES[state]}${reason && `: ${toOneLine(reason)}`}`;
}

const STATES = { failed: "failed", needs_login: "needs a sign-in", closed: "closed" } as const;

export const INFO_COMMANDS: readonly SlashCommand[] = [
  permissions,
  mode,
  {
    name: "mcp",
    onlyWithLocalTools: true,
    summary: "List the MCP servers and their state",
    run(_, { opened: { octant, servers } }) {
      const settings = octant.config.settings.mcp_servers;
      const disabled = Object.keys(settings).filter((name) => settings[name]?.disabled);
      const lines = [
        ...servers.status().map((one) => `- **${toOneLine(one.server)}** ${describeServer(one)}`),
        ...disabled.map((name) => `- **${toOneLine(name)}** disabled`),
      ];
      return {
        text: lines.join("\n") || "no MCP servers are set; `mcp_servers` in the settings names them",
      };
    },
  },
  {
    name: "memory",
    onlyWithLocalTools: true,
    argument: "[QUERY]",
    summary: "Show or search memories",
    run: (query, context) =>
      showAnswer(
        query === ""
          ? { tool: "memory", action: "manage", input: {} }
          : { tool: "memory", action: "recall", input: { query } },
        context,
      ),
  },
  {
    name: "jobs",
    onlyWithLocalTools: true,
    argument: "[stop ID]",
    summary: "List the commands and other jobs of this session, or stop one",
    run: (argument, context) => (argument === "" ? listJobs(context) : stopJob(argument, context)),
  },
  {
    name: "login",
    summary: "Explain how to sign in",
    run: () => ({
      text: "`octant login` in a shell signs in or stores a key; ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY count too",
    }),
  },
  { name: "quit", onlyInTerminal: true, summary: "Exit", run: () => ({ quit: true }) },
];

const Jobs = z.object({
  jobs: z.array(
    z.object({
      job_id: z.string(),
      tool: z.string(),
      action: z.string(),
      subject: z.string().optional(),
      state: z.string(),
    }),
  ),
});
type JobRow = z.output<typeof Jobs>["jobs"][number];

const SHOWN_JOBS = 20;
const ID_CHARS = 6;

async function findJobs(context: SlashContext): Promise<readonly JobRow[]> {
  const call = { tool: "job", action: "list", input: { limit: 1000 } };
  const { jobs } = Jobs.parse(await dataOf(call, context));
  const isRunning = ({ state }: JobRow) => state === "running" || state === "queued";
  return [...jobs.filter(isRunning), ...jobs.filter((one) => !isRunning(one))];
}

/** Running jobs first, then the latest that failed or ran a command. The end of an id is enough to recognise it. */
async function listJobs(context: SlashContext): Promise<SlashOutcome> {
  const { registry } = context.opened.octant;
  const jobs = await findJobs(context);
  if (jobs.length === 0) return { text: "no jobs" };
  const isTold = ({ tool, action, state }: JobRow) =>
    state !== "complete" || registry.get(tool)?.actions[action]?.runsCommands === true;
  const told = jobs.filter(isTold);
  const lines = told
    .slice(0, SHOWN_JOBS)
    .map(({ job_id, ...one }) => `${job_id.slice(-ID_CHARS)}  ${describeJob(one)}`);
  if (told.length > SHOWN_JOBS) lines.push(`… ${told.length - SHOWN_JOBS} older ones`);
  const others = jobs.length - told.length;
  if (others > 0) lines.push(`${counted(others, "other call")} finished without a failure`);
  const how = jobs[0]?.state === "running" ? "\n\n`/jobs stop ID` stops one that runs" : "";
  return { text: `${asBlock(lines.join("\n"))}${how}` };
}

const describeJob = ({ tool, action, subject = "", state }: Omit<JobRow, "job_id">): string =>
  `${state}  ${tool}.${action}${subject && ` ${toOneLine(subject)}`}`;

async function stopJob(argument: string, context: SlashContext): Promise<SlashOutcome> {
  const [, id] = /^stop\s+(\w+)$/.exec(argument) ?? [];
  if (id === undefined) throw invalidArgument("", "/jobs takes nothing, or stop and the id of a job");
  const [found, another] = (await findJobs(context)).filter(({ job_id }) => job_id.endsWith(id));
  if (!found || another)
    throw new ToolError("NOT_FOUND", `${another ? "more than one" : "no"} job has the id '${id}'`, { id });
  const { agent, host } = context.opened;
  await host.jobs.cancel(agent.session.id, found.job_id);
  return { text: `stopped ${asCode(describeJob({ ...found, state: "" }).trim())}` };
}

const asCode = (text: string): string => `\`${text.replaceAll("`", "'")}\``;

async function dataOf(call: Call, { opened: { octant, agent } }: SlashContext): Promise<unknown> {
  const { envelope } = await octant.dispatch(call, {
    caller: { ...LOCAL_CALLER, id: agent.session.id, isPerson: true },
  });
  if (!envelope.ok) throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
  return envelope.data;
}

async function showAnswer(call: Call, { opened: { octant, agent } }: SlashContext): Promise<SlashOutcome> {
  const { envelope } = await octant.dispatch(call, {
    caller: { ...LOCAL_CALLER, id: agent.session.id, isPerson: true },
  });
  if (!envelope.ok) throw new ToolError(envelope.error.code, envelope.error.message, envelope.error.details);
  return { text: asBlock(createToText(octant.registry, [])(envelope)) };
}
