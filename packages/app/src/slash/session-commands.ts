import { type Direction, listProviderModels, type SessionInfo, tokensOf } from "@octant/agent";
import { invalidArgument, ToolError, toOneLine } from "@octant/core";
import { chooseClient, openClient } from "../agent/choose-client.ts";
import { isOwnSession } from "../agent/sessions.ts";
import { listPrompts, type RewoundFiles, rewindFiles } from "../agent/turns.ts";
import { describeUndo, planTurnById, planUndo, whyAsked } from "../agent/undo.ts";
import { exportCommand } from "./export-command.ts";
import { asBlock, type SlashCommand, type SlashContext, type SlashOutcome } from "./slash-command.ts";

const SHORT_ID_CHARS = 20;
const MAX_LISTED = 15;
const CHOICES = ["keep", "overwrite"] as const;

const restoring = (direction: Direction, summary: string): SlashCommand => ({
  name: direction,
  summary,
  argument: "[TURN] [keep|overwrite]",
  complete: () => CHOICES,
  run: (argument, context) => restore(direction, argument, context),
});

export const SESSION_COMMANDS: readonly SlashCommand[] = [
  restoring("undo", "Undo the last turn's file changes, including those of commands"),
  restoring("redo", "Redo the turn that was undone last"),
  {
    name: "rewind",
    onlyInTerminal: true,
    argument: "[N] [both|conversation|files]",
    summary: "Go back to before your Nth last message: a copy of the conversation, and the files",
    run: rewind,
  },
  {
    name: "resume",
    onlyInTerminal: true,
    argument: "[ID]",
    summary: "List sessions of this folder, or resume one",
    complete: async ({ opened }) =>
      (await opened.sessions.list())
        .filter(isOwnSession)
        .map(({ session_id }) => session_id.slice(0, SHORT_ID_CHARS)),
    async run(id, { opened: { sessions, agent } }) {
      if (id !== "") return { next: { how: "resume", id: await sessions.resolve(id) } };
      const others = (await sessions.list()).filter(
        (one) => isOwnSession(one) && one.session_id !== agent.session.id,
      );
      if (others.length === 0) return { text: "there are no other sessions yet" };
      const rows = others.map(toRow);
      const text = rows
        .slice(0, MAX_LISTED)
        .map(({ id, label, detail }) => `- \`${id}\` ${label}, ${detail}`);
      const items = rows.map(({ id, label, detail }) => ({ line: `/resume ${id}`, label, detail }));
      return { text: text.join("\n"), pick: { title: "Resume which session?", items } };
    },
  },
  {
    name: "fork",
    onlyInTerminal: true,
    summary: "Continue in a copy of this conversation",
    run: (_, { opened: { agent } }) => ({ next: { how: "fork", id: agent.session.id } }),
  },
  { name: "clear", onlyInTerminal: true, summary: "Start a new conversation", run: () => ({ next: "new" }) },
  {
    name: "compact",
    isForRemote: true,
    summary: "Compact the conversation now",
    async run(text, { opened: { agent }, signal }) {
      if (text !== "") throw invalidArgument("", "/compact takes no text; the summary covers everything");
      const isDone = await agent.compact(signal);
      return { text: isDone ? "the conversation was compacted" : "there is nothing to leave out yet" };
    },
  },
  {
    name: "model",
    argument: "[NAME]",
    summary: "Choose a model of the provider, or switch to one by name from the next message on",
    async run(name, { opened: { octant, agent, model, env } }) {
      if (name === "") {
        const now = agent.session.conversation.model?.id ?? model;
        const listed = await listProviderModels(await chooseClient(octant, env, {}));
        const text = `model: ${now}`;
        if (!listed)
          return { text: `${text}\n\nThe provider does not list its models; \`/model NAME\` switches.` };
        const items = listed.map((id) => ({
          line: `/model ${id}`,
          label: id,
          detail: id === now ? "in use" : "",
        }));
        const lines = listed.map((id) => `- \`${toOneLine(id)}\``);
        return { text: [text, "", ...lines].join("\n"), pick: { title: `${text}. Switch to which?`, items } };
      }
      const client = await openClient(octant, env, { model: name });
      await agent.useModel(client);
      return { text: `model: ${client.model.id}` };
    },
  },
  {
    name: "cost",
    isForRemote: true,
    summary: "Show tokens and cost of this session",
    run(_, { opened: { agent } }) {
      const { usage, cost } = agent.session.conversation;
      return {
        text: `${tokensOf(usage)} tokens, ${cost === null ? "cost unknown" : `$${cost.toFixed(4)}`}`,
      };
    },
  },
  exportCommand,
];

/** A session by its title, date and folder. */
function toRow({ session_id, title, problem, updated_at, cwd }: SessionInfo) {
  const label = toOneLine(problem ?? title) || "(no message yet)";
  const date = updated_at.slice(0, 16).replace("T", " ");
  return { id: session_id.slice(0, SHORT_ID_CHARS), label, detail: `${date}, ${toOneLine(cwd)}` };
}

/** Files that the person changed since are shown, and left alone until they choose. */
async function restore(
  direction: Direction,
  argument: string,
  { opened }: SlashContext,
): Promise<SlashOutcome> {
  const [isRead, number, word] = RESTORE.exec(argument) ?? [];
  if (isRead === undefined)
    throw invalidArgument(
      "",
      `/${direction} takes the number of a turn, and keep or overwrite, for files that you changed too`,
    );
  const choice = CHOICES.find((one) => one === word);
  const { host, agent } = opened;
  const { id } = agent.session;
  const hasTurns = (await host.turns.list({ session_id: id })).length > 0;
  const plan =
    number === undefined
      ? await planUndo(host.turns, direction, hasTurns ? id : undefined)
      : await planTurnById(host.turns, direction, Number(number));
  const { session_id } = plan.turn;
  const whose = session_id === id ? "" : `\n- a turn of another session: ${session_id ?? "a server"}`;
  const overwrite = choice === "overwrite";
  if (plan.conflicts.length > 0 && choice === undefined) {
    const diff = asBlock(await plan.diff({ overwrite: true, only: "conflicts" }), "diff");
    const again = `/${[direction, number].filter(Boolean).join(" ")}`;
    // Last, because a long diff fills the screen.
    const verdict = [
      `nothing was changed: ${whyAsked(plan)}; above is what overwriting would do`,
      `- \`${again} keep\` leaves that as it is and does the rest`,
      `- \`${again} overwrite\` takes it back too`,
    ];
    return { text: `${diff}\n\n${verdict.join("\n")}`, failed: true };
  }
  await plan.apply({ overwrite });
  return { text: `${describeUndo(plan, overwrite).replaceAll("\n  ", "\n- ")}${whose}`, isNews: true };
}

const RESTORE = /^(?:(\d{1,9})(?:\s+|$))?(keep|overwrite)?$/;
const REWIND = /^(?:(\d{1,6})(?:\s+|$))?(both|conversation|files)?$/;

/** The conversation continues in a copy, so that nothing of it is lost. */
async function rewind(argument: string, { opened }: SlashContext): Promise<SlashOutcome> {
  const { sessions, agent, host } = opened;
  const prompts = listPrompts(await Array.fromAsync(sessions.events(agent.session.id)));
  const [isRead, count = "1", scope = "both"] = REWIND.exec(argument) ?? [];
  const prompt = isRead === undefined || Number(count) === 0 ? undefined : prompts.at(-Number(count));
  if (prompts.length === 0) throw new ToolError("NOT_FOUND", "this session has no message to rewind to", {});
  if (!prompt)
    throw invalidArgument(
      "",
      `/rewind takes a number from 1 to ${prompts.length}, and both, conversation or files`,
    );
  if (agent.isRunning)
    throw new ToolError("LOCKED", "the agent is busy; press Esc to stop it, then go back", {});
  const files = scope === "conversation" ? undefined : await rewindFiles(host.turns, prompt.turns);
  const text = files && describeFiles(files);
  if (scope === "files") return { text: text ?? "", isNews: true };
  const next = { how: "fork", id: agent.session.id, seq: prompt.seq - 1 } as const;
  return { next, draft: prompt.text, ...(text !== undefined && { text }) };
}

function describeFiles({ turns, restored, merged, changed, doubtful, notes }: RewoundFiles): string {
  const named = (paths: readonly string[]) => paths.map((path) => `\`${toOneLine(path)}\``).join(", ");
  const line = (title: string, paths: readonly string[]) =>
    paths.length > 0 ? [`${title}: ${named(paths)}`] : [];
  const lines = [
    ...line("files as they were", restored),
    ...line("as they were, with your own changes", merged),
    ...(restored.length + merged.length > 0
      ? [`\`/redo\` brings them back${turns > 1 ? `, one of the ${turns} turns each time` : ""}`]
      : []),
    ...line("left alone, because you changed them too", changed),
    ...doubtful.map(
      ({ turn, paths }) =>
        `left alone, because a command, or you while it ran, changed them: ${named(paths)}; \`/undo ${turn} overwrite\` takes them back too`,
    ),
    ...notes,
  ];
  return lines.join("\n\n") || "no files had to be changed";
}
