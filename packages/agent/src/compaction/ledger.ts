import type { StoredEvent } from "../events.ts";
import { textOf } from "../messages.ts";
import type { ChangedFile } from "../tool-executor.ts";

/** The facts of a session, derived from its events alone, not from a model's memory. */
export interface Ledger {
  apply(event: StoredEvent): void;
  toText(): string;
}

const MAX_REQUEST_CHARS = 2_000;
const MAX_REQUESTS = 10;
const MAX_FILES = 40;
const MAX_DECISIONS = 20;
const MAX_RUNNING = 20;

export function createLedger(): Ledger {
  const requests: string[] = [];
  const changed = new Map<string, ChangedFile>();
  const seen = new Map<string, ChangedFile>();
  const decisions: string[] = [];
  const running = new Map<string, string>();
  const failing = new Map<string, string>();
  const asked = new Map<string, string>();
  let question = "";

  const apply = (event: StoredEvent): void => {
    switch (event.type) {
      case "user":
        if (event.origin === "person") requests.push(textOf(event.content));
        question = "";
        break;
      case "message": {
        const text = textOf(event.message.content).trim();
        question = text.endsWith("?") ? (text.split("\n").at(-1) ?? "") : "";
        break;
      }
      case "permission_asked":
        asked.set(event.permission_id, event.action);
        break;
      case "permission_answered":
        decisions.push(
          `${asked.get(event.permission_id)}: ${event.answer}${event.reason ? ` (${event.reason})` : ""}`,
        );
        asked.delete(event.permission_id);
        break;
      case "tool_ended": {
        const { facts = {}, name, is_error, content } = event;
        for (const file of facts.changed ?? []) put(changed, file.path, file);
        for (const file of [...(facts.read ?? []), ...(facts.changed ?? [])]) put(seen, file.path, file);
        const handle = facts.job_id ?? facts.proc_id;
        if (handle !== undefined && (facts.exit_code === undefined || facts.exit_code === null))
          put(running, handle, name);
        else if (handle !== undefined) running.delete(handle);
        if (is_error) put(failing, name, textOf(content).split("\n", 1)[0] ?? "");
        else failing.delete(name);
        break;
      }
    }
  };
  return {
    apply,
    toText: () =>
      [
        section("Goal", requests.slice(0, 1).map(cutRequest)),
        section(
          "Constraints and requests since, oldest first",
          requests.slice(1).slice(-MAX_REQUESTS).map(cutRequest),
        ),
        section("Decisions of the person", decisions.slice(-MAX_DECISIONS)),
        section(
          "Files changed, with their newest known hash",
          [...changed.values()].slice(-MAX_FILES).map(toFileLine),
        ),
        section(
          "Files read",
          [...seen.values()]
            .filter(({ path }) => !changed.has(path))
            .slice(-MAX_FILES)
            .map(toFileLine),
        ),
        section(
          "Jobs and processes that may still run",
          [...running].slice(-MAX_RUNNING).map(([id, name]) => `${id} (${name})`),
        ),
        section(
          "Calls whose last attempt failed",
          [...failing].slice(-MAX_RUNNING).map(([name, why]) => `${name}: ${why}`),
        ),
        section("Open question to the person", question === "" ? [] : [question]),
      ]
        .filter((text) => text !== "")
        .join("\n\n"),
  };
}

const section = (title: string, items: readonly string[]): string =>
  items.length === 0 ? "" : [`# ${title}`, ...items.map((item) => `- ${item}`)].join("\n");

const cutRequest = (text: string): string =>
  text.length > MAX_REQUEST_CHARS ? `${text.slice(0, MAX_REQUEST_CHARS).toWellFormed()}…` : text;

const toFileLine = ({ path, hash }: ChangedFile): string => `${path} ${hash ?? "(deleted)"}`;

function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
}
