import { randomUUID } from "node:crypto";
import { attempt } from "@octant/core";
import type { Delta } from "../api-client.ts";
import type { ToolCallPart } from "../messages.ts";
import { fieldOf, stringOf } from "./wire.ts";

export interface CallCollector {
  add(delta: unknown): Iterable<Delta>;
  finish(): readonly ToolCallPart[];
}

interface OpenCall {
  readonly index: unknown;
  readonly id: string;
  name: string;
  text: string;
}

/**
 * Assembles calls from deltas. Servers differ: some omit the index, some give every call the same one, some repeat
 * the name, some send the arguments as an object. So a new call starts when the index is new, when the id differs, or
 * when a name arrives although the arguments so far are complete.
 */
export function createCallCollector(): CallCollector {
  const calls: OpenCall[] = [];

  const findOpen = (index: unknown, id: string, name: string): OpenCall | undefined => {
    const last = index === undefined ? calls.at(-1) : calls.findLast((call) => call.index === index);
    if (!last) return undefined;
    if (id !== "" && last.id !== id) return undefined;
    const isNext = id === "" && name !== "" && isComplete(last.text);
    return isNext ? undefined : last;
  };
  return {
    *add(delta) {
      const index = fieldOf(delta, "index");
      const id = stringOf(delta, "id");
      const call = fieldOf(delta, "function");
      const name = stringOf(call, "name");
      let open = findOpen(index, id, name);
      if (!open) {
        open = { index, id: id || `call_${randomUUID()}`, name, text: "" };
        calls.push(open);
        yield { type: "call_delta", call_id: open.id, name, text: "" };
      } else if (open.name === "") open.name = name;
      const text = argumentsOf(call);
      open.text += text;
      if (text !== "") yield { type: "call_delta", call_id: open.id, text };
    },
    finish: () => calls.map(({ id, name, text }) => ({ type: "tool_call", id, name, arguments: text })),
  };
}

function argumentsOf(call: unknown): string {
  const given = fieldOf(call, "arguments");
  if (typeof given === "string") return given;
  return typeof given === "object" && given !== null ? JSON.stringify(given) : "";
}

const isComplete = (text: string): boolean => attempt(() => typeof JSON.parse(text) === "object") ?? false;
