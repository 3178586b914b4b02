import { type AgentEvent, cacheHitRate, NO_USAGE, type PlanMark } from "@octant/agent";
import { toOneLine } from "@octant/core";
import type { Highlighter } from "../markdown/highlight.ts";
import { MdRenderer } from "../markdown/md-renderer.ts";
import { type Line, lineWidth, span, truncate, wrap } from "../styled.ts";
import { diffOfInput } from "./diff.ts";
import { isFinished, planOf, planProgress, viewPlan } from "./progress.ts";
import type { StatusFacts } from "./status.ts";
import { viewEvent, viewSearch } from "./transcript.ts";

const SPINNER = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
export const SPINNER_MS = 100;
const MAX_THOUGHT_CHARACTERS = 400;

type RunningTool = { title: string; started: number; message?: string };
type ToolEnded = Extract<AgentEvent, { type: "tool_ended" }>;

/** Converts the events of a session to lines: finished ones to commit, and those that still change. */
export class ConversationView {
  readonly #width: () => number;
  readonly #highlight: Highlighter | undefined;
  #markdown: MdRenderer;
  #finished: Line[] = [];
  #endsInGap = true;
  #thinking = "";
  #tools = new Map<string, RunningTool>();
  #titles = new Map<string, string>();
  #previews = new Map<string, string>();
  #context: StatusFacts["context"];
  #plan: PlanMark | undefined;
  #usage = NO_USAGE;
  #cost = 0;

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
        this.#context = { used: event.context.used_tokens, size: event.context.size_tokens };
        this.#usage = event.usage;
        this.#cost += event.cost ?? 0;
        return;
      case "spent":
        this.#cost += event.cost ?? 0;
        return;
      case "retry": {
        this.#endText();
        const seconds = Math.ceil(event.delay_ms / 1000);
        this.append([
          [span(`! ${toOneLine(event.reason)}; trying again in ${seconds} s`, { role: "warning" })],
        ]);
        return;
      }
      case "tool_began":
        this.#titles.set(event.call_id, event.title);
        if (event.kind === "edit") this.#keepDiff(event.call_id, diffOfInput(event.input));
        this.#tools.set(event.call_id, { title: event.title, started: Date.now() });
        return;
      case "tool_progress": {
        const tool = this.#tools.get(event.call_id);
        if (tool) this.#tools.set(event.call_id, { ...tool, message: event.message ?? "" });
        return;
      }
      case "permission_asked":
        this.#keepDiff(event.call_id, event.preview);
        return;
      case "tool_ended":
        this.#tools.delete(event.call_id);
        this.append(
          viewEvent(this.#withDiff(event), (id) => this.#titles.get(id) ?? event.name, this.#width()),
        );
        return;
      case "mark":
        this.#plan = planOf(event) ?? this.#plan;
        return;
      case "end":
        this.#endText();
        this.append(viewEvent(event, () => "", this.#width()));
        this.#gap();
        return;
      default:
        if (event.type === "user") this.#gap();
        this.append(viewEvent(event, () => "", this.#width()));
        if (event.type === "user") this.#gap();
    }
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
  activity(command?: string): Line[] {
    const frame = span(`${SPINNER[Math.floor(Date.now() / SPINNER_MS) % SPINNER.length]} `, {
      role: "accent",
    });
    const tools = [...this.#tools.values()].map(({ title, started, message }) => {
      const seconds = Math.floor((Date.now() - started) / 1000);
      const detail = [seconds > 0 ? `${seconds} s` : "", message ? toOneLine(message) : ""].filter(Boolean);
      const note = detail.length > 0 ? `  ${detail.join(" · ")}` : "";
      return truncate([frame, span(toOneLine(title)), span(note, { role: "muted" })], this.#width());
    });
    if (tools.length > 0) return tools;
    const idle = command === undefined ? "working; Esc stops" : `${toOneLine(command)}; Esc stops`;
    const thought = this.#thinking.split("\n").at(-1)?.trim() ?? "";
    const text = thought === "" ? idle : toOneLine(thought);
    return [truncate([frame, span(text, { role: "muted", italic: thought !== "" })], this.#width())];
  }

  /** The steps of the plan, until all are done. */
  plan(): Line[] {
    return this.#plan && !isFinished(this.#plan) ? viewPlan(this.#plan, this.#width()) : [];
  }

  get facts(): Pick<StatusFacts, "context" | "cost" | "cacheHitRate" | "plan"> {
    return {
      ...(this.#plan && { plan: planProgress(this.#plan) }),
      ...(this.#context && { context: this.#context }),
      cost: this.#cost,
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

  #keepDiff(callId: string, diff: string | undefined): void {
    if (diff) this.#previews.set(callId, diff);
  }

  /** Adds the diff that the person approved, or that the call itself describes, where the tool itself does not show one. */
  #withDiff(event: ToolEnded): ToolEnded {
    const diff = this.#previews.get(event.call_id);
    this.#previews.delete(event.call_id);
    if (diff === undefined || event.is_error || event.facts?.diff) return event;
    return { ...event, facts: { ...event.facts, diff } };
  }

  #newMarkdown(): MdRenderer {
    return new MdRenderer({ width: this.#width(), ...(this.#highlight && { highlight: this.#highlight }) });
  }
}
