import { type AgentEvent, cacheHitRate, describeRetry, NO_USAGE, type PlanMark } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { Highlighter } from "../markdown/highlight.ts";
import { MdRenderer } from "../markdown/md-renderer.ts";
import { type Line, lineWidth, span, truncate, wrap } from "../styled.ts";
import { CallsView } from "./calls.ts";
import { viewEvent, viewSearch } from "./event.ts";
import { isFinished, planOf, planProgress, viewPlan } from "./progress.ts";
import type { StatusFacts } from "./status.ts";

const SPINNER = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
export const SPINNER_MS = 100;
const MAX_THOUGHT_CHARACTERS = 400;
const MAX_RUNNING_ROWS = 8;
const MAX_COMMAND_CHARS = 40;

/** Converts the events of a session to lines: finished ones to commit, and those that still change. */
export class ConversationView {
  readonly #width: () => number;
  readonly #highlight: Highlighter | undefined;
  #markdown: MdRenderer;
  #finished: Line[] = [];
  #endsInGap = true;
  #thinking = "";
  readonly #calls = new CallsView();
  /** By session. */
  readonly #members = new Map<string, CallsView>();
  #plan: PlanMark | undefined;
  #usage = NO_USAGE;

  constructor(width: () => number, highlight: Highlighter | undefined) {
    this.#width = width;
    this.#highlight = highlight;
    this.#markdown = this.#newMarkdown();
  }

  onEvent(event: AgentEvent): void {
    switch (event.type) {
      case "text_delta":
        this.#thinking = "";
        this.#markdown.resize(this.#width());
        this.append(this.#markdown.renderChunk(event.text));
        return;
      case "thinking_delta":
        this.#thinking = (this.#thinking + event.text).slice(-MAX_THOUGHT_CHARACTERS);
        return;
      case "web_search":
        this.#endText();
        this.append(viewSearch(event));
        return;
      case "message":
        this.#endText();
        this.#usage = event.usage;
        return;
      case "retry":
        this.#endText();
        this.append([retrying(event)]);
        return;
      case "mark":
        this.#plan = planOf(event) ?? this.#plan;
        return;
      case "end":
        this.#endText();
        this.append(viewEvent(event, () => "", this.#width()));
        this.#gap();
        return;
      default: {
        const width = this.#width();
        if (event.type === "user") this.#gap();
        this.append(this.#calls.onEvent(event, width) ?? viewEvent(event, () => "", width));
        if (event.type === "user") this.#gap();
      }
    }
  }

  /** Shows the calls of a sub-agent; its report says the rest. */
  onMember(role: string, event: AgentEvent): void {
    const name = toOneLine(role);
    const calls = this.#members.get(event.session_id) ?? new CallsView(name);
    this.#members.set(event.session_id, calls);
    const width = this.#width();
    if (event.type === "retry") this.append([retrying({ ...event, reason: `${name}: ${event.reason}` })]);
    else if (event.type === "notice")
      this.append(viewEvent({ ...event, text: `${name}: ${event.text}` }, () => "", width));
    else this.append(calls.onEvent(event, width) ?? []);
  }

  append(lines: readonly Line[]): void {
    const width = this.#width();
    this.#finished.push(...lines.flatMap((line) => (lineWidth(line) > width ? wrap(line, width) : [line])));
    const last = lines.at(-1);
    if (last) this.#endsInGap = last.length === 0;
  }

  /** Text that is not from the model, such as the output of a command. */
  appendMarkdown(text: string): void {
    const renderer = this.#newMarkdown();
    this.append([...renderer.renderChunk(text), ...renderer.flush(), []]);
  }

  /** Lines finished since the last call. */
  take(): Line[] {
    const lines = this.#finished;
    this.#finished = [];
    return lines;
  }

  /** The text that is still growing. */
  growing(maxRows: number): Line[] {
    this.#markdown.resize(this.#width());
    return this.#markdown.preview(maxRows);
  }

  /** The agent's current activity: its tools, or its last thought. */
  activity(command?: { readonly line: string; readonly message?: string }): Line[] {
    const frame = span(`${SPINNER[Math.floor(Date.now() / SPINNER_MS) % SPINNER.length]} `, {
      role: "accent",
    });
    const running = [this.#calls, ...this.#members.values()].flatMap((calls) =>
      calls.running(frame, this.#width()),
    );
    if (running.length > 0) return running.slice(0, MAX_RUNNING_ROWS);
    const idle = command === undefined ? "working; Esc stops" : viewCommand(command);
    const thought = this.#thinking.split("\n").at(-1)?.trim() ?? "";
    const text = thought === "" ? idle : toOneLine(thought);
    return [truncate([frame, span(text, { role: "muted", italic: thought !== "" })], this.#width())];
  }

  /** The steps of the plan, until all are done. */
  plan(): Line[] {
    return this.#plan && !isFinished(this.#plan) ? viewPlan(this.#plan, this.#width()) : [];
  }

  get facts(): Pick<StatusFacts, "cacheHitRate" | "plan"> {
    return {
      ...(this.#plan && { plan: planProgress(this.#plan) }),
      cacheHitRate: cacheHitRate(this.#usage),
    };
  }

  #endText(): void {
    this.#markdown.resize(this.#width());
    const lines = this.#markdown.flush();
    this.append(lines);
    if (lines.length > 0) this.#gap();
    this.#markdown = this.#newMarkdown();
    this.#thinking = "";
  }

  /** One empty line, unless there is one already. */
  #gap(): void {
    if (!this.#endsInGap) this.append([[]]);
  }

  #newMarkdown(): MdRenderer {
    return new MdRenderer({ width: this.#width(), ...(this.#highlight && { highlight: this.#highlight }) });
  }
}

type Retry = Extract<AgentEvent, { type: "retry" }>;

const retrying = (event: Retry): Line => [span(`! ${toOneLine(describeRetry(event))}`, { role: "warning" })];

/** Its last output stays in sight, however long the command is. */
function viewCommand({ line, message = "" }: { readonly line: string; readonly message?: string }): string {
  const output = toOneLine(message);
  const shown = toOneLine(line);
  if (output === "") return `${shown}; Esc stops`;
  const name = shown.length > MAX_COMMAND_CHARS ? `${shown.slice(0, MAX_COMMAND_CHARS - 1)}…` : shown;
  return `${name}; Esc stops · ${output}`;
}
