import type { AgentEvent } from "@octant/agent";
import { toOneLine } from "@octant/core";
import { type Line, type Span, span, truncate } from "../styled.ts";
import { diffOfInput } from "./diff.ts";
import { viewEvent } from "./event.ts";

type RunningCall = { title: string; started: number; message?: string };
type ToolEnded = Extract<AgentEvent, { type: "tool_ended" }>;

/** The calls of one agent: those that run, and what is shown of those that have ended. */
export class CallsView {
  readonly #running = new Map<string, RunningCall>();
  readonly #titles = new Map<string, string>();
  readonly #previews = new Map<string, string>();
  readonly #by: string;

  /** `by` precedes the titles, such as the role of a sub-agent. */
  constructor(by = "") {
    this.#by = by === "" ? "" : `${by}: `;
  }

  /** The lines that an event about a call leaves in the scrollback; undefined for other events. */
  onEvent(event: AgentEvent, width: number): Line[] | undefined {
    switch (event.type) {
      case "tool_began": {
        const title = `${this.#by}${event.title}`;
        this.#titles.set(event.call_id, title);
        if (event.kind === "edit") this.#keepDiff(event.call_id, diffOfInput(event.input));
        this.#running.set(event.call_id, { title, started: Date.now() });
        return [];
      }
      case "tool_progress": {
        const call = this.#running.get(event.call_id);
        if (call) this.#running.set(event.call_id, { ...call, message: event.message ?? "" });
        return [];
      }
      case "permission_asked":
        this.#keepDiff(event.call_id, event.preview);
        return [];
      case "permission_answered":
        return viewEvent(event, () => "", width);
      case "tool_ended": {
        this.#running.delete(event.call_id);
        const titleOf = (id: string) => this.#titles.get(id) ?? `${this.#by}${event.name}`;
        return viewEvent(this.#withDiff(event), titleOf, width);
      }
      default:
        return undefined;
    }
  }

  /** One row for each running call. */
  running(mark: Span, width: number): Line[] {
    return [...this.#running.values()].map(({ title, started, message }) => {
      const seconds = Math.floor((Date.now() - started) / 1000);
      const detail = [seconds > 0 ? `${seconds} s` : "", message ? toOneLine(message) : ""].filter(Boolean);
      const note = detail.length > 0 ? `  ${detail.join(" · ")}` : "";
      return truncate([mark, span(toOneLine(title)), span(note, { role: "muted" })], width);
    });
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
}
