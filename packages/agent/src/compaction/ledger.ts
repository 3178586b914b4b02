import { type Conversation, putLast } from "../conversation.ts";
import type { StoredEvent } from "../events.ts";
import { textOf } from "../messages.ts";
import type { ChangedFile } from "../tool-executor.ts";

const MAX_REQUEST_CHARS = 2_000;
const MAX_REQUESTS = 10;
const MAX_FILES = 40;
const MAX_DECISIONS = 20;
const MAX_RUNNING = 20;

/** The facts of a session, derived from its events alone, not from a model's memory. */
export class Ledger {
  readonly #conversation: Conversation;
  readonly #requests: string[] = [];
  readonly #decisions: string[] = [];
  readonly #running = new Map<string, string>();
  readonly #failing = new Map<string, string>();
  readonly #asked = new Map<string, string>();
  #question = "";

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  apply(event: StoredEvent): void {
    switch (event.type) {
      case "user":
        if (event.origin === "person") this.#requests.push(textOf(event.content));
        this.#question = "";
        break;
      case "message": {
        const text = textOf(event.message.content).trim();
        this.#question = text.endsWith("?") ? (text.split("\n").at(-1) ?? "") : "";
        break;
      }
      case "permission_asked":
        this.#asked.set(event.permission_id, event.action);
        break;
      case "permission_answered": {
        const why = event.reason ? ` (${event.reason})` : "";
        this.#decisions.push(`${this.#asked.get(event.permission_id)}: ${event.answer}${why}`);
        this.#asked.delete(event.permission_id);
        break;
      }
      case "tool_ended": {
        const { facts = {}, name, is_error, content } = event;
        const handle = facts.job_id ?? facts.proc_id;
        if (handle !== undefined && (facts.exit_code === undefined || facts.exit_code === null))
          putLast(this.#running, handle, name);
        else if (handle !== undefined) this.#running.delete(handle);
        if (is_error) putLast(this.#failing, name, textOf(content).split("\n", 1)[0] ?? "");
        else this.#failing.delete(name);
        break;
      }
    }
  }

  toText(): string {
    const { changed, seen } = this.#conversation;
    const requests = this.#requests.map(cutRequest);
    const read = [...seen.values()].filter(({ path }) => !changed.has(path));
    const sections: readonly (readonly [title: string, items: readonly string[], most?: number])[] = [
      ["Goal", requests.slice(0, 1)],
      ["Constraints and requests since, oldest first", requests.slice(1), MAX_REQUESTS],
      ["Decisions of the person", this.#decisions, MAX_DECISIONS],
      ["Files changed, with their newest known hash", [...changed.values()].map(toFileLine), MAX_FILES],
      ["Files read", read.map(toFileLine), MAX_FILES],
      [
        "Jobs and processes that may still run",
        [...this.#running].map(([id, name]) => `${id} (${name})`),
        MAX_RUNNING,
      ],
      [
        "Calls whose last attempt failed",
        [...this.#failing].map(([name, why]) => `${name}: ${why}`),
        MAX_RUNNING,
      ],
      ["Open question to the person", this.#question === "" ? [] : [this.#question]],
    ];
    return sections
      .filter(([, items]) => items.length > 0)
      .map(([title, items, most = 1]) =>
        [`# ${title}`, ...items.slice(-most).map((item) => `- ${item}`)].join("\n"),
      )
      .join("\n\n");
  }
}

const cutRequest = (text: string): string =>
  text.length > MAX_REQUEST_CHARS ? `${text.slice(0, MAX_REQUEST_CHARS).toWellFormed()}…` : text;

const toFileLine = ({ path, hash }: ChangedFile): string => `${path} ${hash ?? "(deleted)"}`;
