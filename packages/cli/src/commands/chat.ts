import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProviderName, SeveralModels, type StampedEvent } from "@octant/agent";
import {
  createCompleter,
  createNotifier,
  createPictures,
  editExternally,
  loadConversation,
  type OpenedAgent,
  openAgent,
  runShellLine,
  runSlashLine,
  type SessionChoice,
  type SlashOutcome,
  watchFacts,
  watchPrompts,
  watchStatusLine,
} from "@octant/app";
import { type SessionMode, ToolError, toOneLine } from "@octant/core";
import { systemClock } from "@octant/host";
import type { PermissionRule } from "@octant/runtime";
import {
  asksForBackground,
  type Beginning,
  loadHighlighter,
  openHistory,
  PlainApp,
  paletteOf,
  processDevice,
  runPager,
  span,
  TerminalApp,
  toNotification,
  toTypedEvent,
  viewLastExchange,
  viewTranscript,
} from "@octant/terminal";
import {
  type AgentFlags,
  agentFlags,
  openHost,
  toAgentOptions,
  toSessionChoice,
} from "../agent/agent-flags.ts";
import { defineCommand, ENDING_SIGNALS, EXIT, type Io, UsageError } from "../command.ts";
import { explainWorkspace, tellOpening } from "../open-octant.ts";
import { asTyped, tell } from "../person-command.ts";
import { tellWhenSlow } from "../tell-when-slow.ts";
import { logLine } from "../workspace-flags.ts";

const KEYS = `Keys:

- \`Enter\` send, or queue while the agent works
- \`Shift-Enter\` or \`Ctrl-J\` new line
- \`Shift-Tab\` next mode: ask, edits, sandbox, plan
- \`Esc\` stop the agent
- \`Esc Esc\` go back to an earlier message
- \`@\` and \`/\` complete a path, a symbol or a command; \`!\` runs a shell command
- \`Up\`, \`Down\` and \`Ctrl-R\` history and its search; \`Up\` takes back a queued message
- \`Ctrl-B\` move a running command to the background
- \`Ctrl-V\` add the picture in the clipboard; you can also drop the file of a picture here
- \`Ctrl-G\` write in your own editor
- \`Ctrl-O\` show and search the whole conversation
- \`Ctrl-_\` undo; \`Ctrl-Z\` pause octant, and \`fg\` in the shell continues it
- \`Ctrl-C\` stop or clear; twice to leave
`;

const INPUT_MODES = ["default", "emacs", "vim"] as const;

export const chat = defineCommand({
  name: "chat",
  summary: "Work with the agent in this terminal; the default without a command",
  arguments: [{ name: "PROMPT", optional: true }],
  flags: {
    ...agentFlags,
    plain: { summary: "Lines without redraws, for screen readers", env: "OCTANT_PLAIN" },
    "input-mode": {
      summary: "Key bindings of the input line",
      value: "MODE",
      choices: INPUT_MODES,
      env: "OCTANT_INPUT_MODE",
    },
  },
  notes: `-c is --continue, -m --model, -r --resume, which without an ID lists the sessions, and -p is octant run.
Type / for commands, @ for files, Esc to stop, Ctrl-C twice to leave. octant run does the same without a screen.`,
  async run({ args: [prompt], flags: given }, io) {
    if (!io.stdin.isTTY || !io.stdout.isTTY)
      throw new UsageError("octant chat needs a terminal", 'octant run "…" works without one');
    let flags: ChatFlags = given;
    let from: SessionChoice | undefined = toSessionChoice(flags);
    let beginning: Beginning = prompt === undefined ? {} : { message: prompt };
    let rules: Left["rules"];
    let mode: Left["mode"];
    let before: Pick<Left, "here"> | undefined;
    let asksForTrust = true;
    const log = onceEach((line) => void logLine(line, io));
    for (;;) {
      const isLater = before !== undefined;
      const more = { rules, mode, asksForTrust, isLater, log };
      let left = await converse(from, beginning, flags, io, more).catch(async (cause: unknown) => {
        if (!before || !(cause instanceof ToolError)) throw cause;
        const { showFailure } = await import("../show-answer.ts");
        showFailure(cause, io);
        return "not opened" as const;
      });
      if (left === "not opened") {
        // The person has only left their session for this one.
        from = before?.here;
        before = undefined;
        continue;
      }
      if (left === "no provider") {
        const { firstRun } = await import("../first-run.ts");
        // The parser accepts only valid names.
        const provider = flags.provider as ProviderName | undefined;
        if (!(await firstRun({ provider, root: flags.root, io }))) return EXIT.FAILED;
        asksForTrust = false;
        left = await converse(from, beginning, flags, io);
      }
      if (left instanceof SeveralModels) {
        const { askForModel } = await import("../first-run.ts");
        const model = await askForModel(left, io);
        if (model === undefined) return EXIT.FAILED;
        flags = { ...flags, model };
        continue;
      }
      if (left !== "no provider" && "waiting" in left) {
        asksForTrust = false;
        const { askAtStart } = await import("../ask-for-trust.ts");
        if (!(await askAtStart(flags.root, left.waiting, io))) return EXIT.FAILED;
        continue;
      }
      if (left === "no provider") return EXIT.FAILED;
      if (left.next === undefined) {
        return tell(`octant --resume ${left.session_id} resumes this session`, io);
      }
      before = left;
      from = left.next === "new" ? undefined : left.next;
      rules = from?.how === "fork" ? left.rules : undefined;
      // A resumed session has a mode of its own.
      mode = from?.how === "resume" ? undefined : left.mode;
      beginning = left.draft === undefined ? {} : { draft: left.draft };
    }
  },
});

type ChatFlags = AgentFlags & {
  readonly plain: boolean;
  readonly "input-mode": (typeof INPUT_MODES)[number] | undefined;
};

interface Left {
  readonly session_id: string;
  /** Continues with it again; absent when nothing of it is stored. */
  readonly here: SessionChoice | undefined;
  /** The session to continue with. */
  readonly next?: SlashOutcome["next"];
  readonly draft?: string;
  /** The rules of the session, which hold in a copy of it too. */
  readonly rules?: readonly PermissionRule[];
  /** The person chose it, and no new or earlier conversation changes it behind their back. */
  readonly mode?: SessionMode | undefined;
}

/** Something of the project waits for trust; answers to that are remembered in this folder. */
interface WaitsForTrust {
  readonly waiting: string;
}

interface Converse {
  readonly rules?: Left["rules"];
  readonly mode?: Left["mode"];
  readonly asksForTrust?: boolean;
  /** It follows another session, whose text is still on the screen. */
  readonly isLater?: boolean;
  readonly log?: (line: string) => void;
}

/** A session that is opened again has nothing new to say. */
function onceEach(log: (line: string) => void): (line: string) => void {
  const told = new Set<string>();
  return (line) => {
    if (!told.has(line)) log(line);
    told.add(line);
  };
}

/** Runs one session on the screen until the person leaves it. */
async function converse(
  from: SessionChoice | undefined,
  beginning: Beginning,
  flags: ChatFlags,
  io: Io,
  { rules = [], mode, asksForTrust = false, isLater = false, log }: Converse = {},
): Promise<Left | WaitsForTrust | SeveralModels | "no provider"> {
  let app: TerminalApp | PlainApp | undefined;
  const opening = openAgent({
    ...toAgentOptions(flags, io),
    ...(log && { log }),
    host: await openHost(flags, io),
    command: "chat",
    from,
    isCleared: isLater && from === undefined,
    tellsUnconfined: true,
    ask: (question, signal) => app!.ask(question, signal),
  }).catch((cause: unknown) => {
    if (cause instanceof SeveralModels) return cause;
    if (cause instanceof ToolError && cause.code === "UNAUTHENTICATED") return "no provider" as const;
    return explainWorkspace(cause, flags, io);
  });
  const answer = await tellWhenSlow(opening, () => tellOpening(flags, io));
  if (answer === "no provider" || answer instanceof SeveralModels) return answer;
  await using opened = answer;
  const { sessionRules, modes, config, workspace } = opened.octant;
  if (asksForTrust && !opened.isRemote && (opened.untrusted.length > 0 || config.waiting.length > 0))
    return { waiting: workspace.state.folder("chat") };
  for (const rule of rules.toReversed()) sessionRules.setRule(opened.agent.session.id, rule);
  if (mode && mode !== modes.session(opened.caller)) modes.setSession(opened.caller, mode);
  let left: Pick<Left, "next" | "draft"> = {};
  app = createApp(opened, flags, io, (chosen) => {
    left = chosen;
  });
  let isSignalled = false;
  const leave = (signal: NodeJS.Signals) => {
    if (signal === "SIGINT") return app?.interrupt();
    isSignalled = true;
    return app?.quit();
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, leave);
  const unconfined = await workspace.sandbox.unconfined().catch(() => undefined);
  const isCopy = from?.how === "fork" && isLater;
  const recalled = isCopy ? [] : await recall(opened, io);
  await app.run(
    [...greeting(opened, await opened.isFirst(), unconfined?.reason, io), ...recalled],
    beginning,
  );
  for (const signal of ENDING_SIGNALS) process.off(signal, leave);
  if (left.next === "new") opened.agent.endReason = "clear";
  if (left.next === undefined && !isSignalled) opened.agent.endReason = "prompt_input_exit";
  const { id, conversation } = opened.agent.session;
  const here = conversation.model ? ({ how: "resume", id } as const) : undefined;
  const kept = { rules: sessionRules.rules(id), mode: modes.session(opened.caller) };
  return { session_id: id, here, ...kept, ...left };
}

function createApp(
  opened: OpenedAgent,
  flags: ChatFlags,
  io: Io,
  goOn: (chosen: Pick<Left, "next" | "draft">) => void,
): TerminalApp | PlainApp {
  const { agent, octant, sessions, model } = opened;
  const { roots } = octant.workspace.confinement;
  const { settings } = octant.config;
  let app: TerminalApp | PlainApp | undefined;
  const device = processDevice();
  const palette = paletteOf(io.env);
  const highlight = loadHighlighter();
  const facts = watchFacts(
    opened,
    () => app?.refresh(),
    ({ role }, event) => app?.onMember(role, event),
  );
  const script = watchStatusLine(opened, io.cwd(), () => app?.refresh());
  const command = async (line: string, signal: AbortSignal, onProgress: (message: string) => void) => {
    facts.commandBegan();
    const run = line.startsWith("!") ? runShellLine : runSlashLine;
    const outcome = await run(line, {
      opened,
      cwd: io.cwd(),
      signal,
      hasInput: true,
      helpNotes: KEYS,
      onProgress,
    });
    const text = outcome?.text === undefined ? undefined : asTyped(outcome.text, io);
    if (outcome?.next === undefined) {
      facts.commandEnded();
      return outcome && { ...outcome, ...(text !== undefined && { text }) };
    }
    const { next, draft } = outcome;
    goOn({ next, ...(draft !== undefined && { draft }) });
    return { quit: true, ...(text !== undefined && { text }) };
  };
  const pictures = createPictures(opened, { cwd: io.cwd(), env: io.env });
  const shared = {
    agent,
    clock: systemClock,
    model,
    facts: () => ({ ...facts.now(), script: script() }),
    command,
    toContent: pictures.toContent,
  };
  if (flags.plain || settings.plain || io.env["TERM"] === "dumb") {
    app = new PlainApp({ ...shared, input: io.stdin, output: io.stdout });
    return app;
  }
  app = new TerminalApp({
    ...shared,
    device,
    palette,
    highlight,
    inputMode: flags["input-mode"] ?? settings.input_mode,
    history: openHistory(join(octant.workspace.state.folder("chat"), "history.jsonl")),
    complete: createCompleter(opened, io.cwd()),
    bell: true,
    asTyped: (text) => asTyped(text, io),
    ...(settings.notifications.mode === "auto" && {
      notify: createNotifier({
        env: io.env,
        roots,
        toSequence: toNotification,
        write: (sequence) => device.write(sequence),
      }),
    }),
    notifyAfterMs: settings.notifications.after_seconds * 1_000,
    asksForBackground: asksForBackground(io.env),
    prompts: watchPrompts(opened),
    nextMode: opened.nextMode,
    attach: pictures.attach,
    attachClipboard: pictures.attachClipboard,
    externalEditor: (text) => editExternally(text, io.env, roots),
    toBackground: () => octant.workspace.processes.stopWaiting(),
    pager: async () => {
      const stored = await loadConversation(sessions, agent.session.id);
      const events = stored.map((event) => toTypedEvent(event, (text) => asTyped(text, io)));
      await runPager(device, palette, viewTranscript(events, device.columns, highlight));
    },
  });
  return app;
}

/** The end of a conversation that is resumed. */
async function recall({ agent, sessions }: OpenedAgent, io: Io) {
  const { id, conversation } = agent.session;
  if (conversation.messages.length === 0) return [];
  const toTyped = (event: StampedEvent) => toTypedEvent(event, (text) => asTyped(text, io));
  const events = await Array.fromAsync(sessions.events(id), toTyped);
  const { columns: width = 80, rows = 24 } = io.stdout;
  return viewLastExchange(events, { width, maxRows: Math.max(rows - RECALL_MARGIN, 4) });
}

/** Room for the greeting, the message and the input. */
const RECALL_MARGIN = 10;

const FIRST =
  "Commands run in a sandbox, and /undo takes back what the agent does. Shift-Tab changes how much it asks.";

const greeting = (
  { host, untrusted, agent }: OpenedAgent,
  isFirst: boolean,
  unconfined: string | undefined,
  io: Io,
) => [
  [
    span("Octant", { bold: true, role: "accent" }),
    span(`  ${toOneLine(host.roots[0] === undefined ? io.cwd() : fileURLToPath(host.roots[0]))}`, {
      role: "muted",
    }),
  ],
  ...(agent.session.conversation.messages.length > 0
    ? [
        [
          span(`${agent.session.conversation.messages.length} messages so far; Ctrl-O shows them`, {
            role: "muted",
          }),
        ],
      ]
    : []),
  ...(isFirst && unconfined === undefined ? [[span(FIRST, { role: "muted" as const })]] : []),
  ...(unconfined === undefined
    ? []
    : [[span(`! ${toOneLine(asTyped(unconfined, io))}`, { role: "warning" as const })]]),
  ...untrusted.map((file) => [
    span(`! ${toOneLine(file)} has no effect until you trust it: ${asTyped("octant trust", io)}`, {
      role: "warning",
    }),
  ]),
  [],
];
