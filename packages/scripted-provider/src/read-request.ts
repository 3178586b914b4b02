import type { ApiName, ScriptedRequest, ScriptedResult } from "./script.ts";

type Json = Readonly<Record<string, unknown>>;
type Facts = Pick<ScriptedRequest, "system" | "tools" | "answers" | "results" | "all_results" | "user">;

/** One step of the conversation in a provider-neutral form. */
type Turn =
  | { readonly kind: "answer" }
  | { readonly kind: "result"; readonly result: ScriptedResult }
  | { readonly kind: "user"; readonly text: string };

/** The request in a provider-neutral form. */
export function readRequest(api: ApiName, body: Json): Facts {
  const { system, tools, turns } = READERS[api](body);
  const last = turns.findLastIndex(({ kind }) => kind === "answer");
  const resultsOf = (some: readonly Turn[]) =>
    some.flatMap((turn) => (turn.kind === "result" ? [turn.result] : []));
  // Items of one answer follow each other.
  const answers = turns.filter(
    ({ kind }, at) => kind === "answer" && turns[at - 1]?.kind !== "answer",
  ).length;
  const user = turns.findLast((turn) => turn.kind === "user");
  return {
    system,
    tools,
    answers,
    results: resultsOf(turns.slice(last + 1)),
    all_results: resultsOf(turns),
    user: user?.kind === "user" ? user.text : "",
  };
}

interface Read {
  readonly system: string;
  readonly tools: readonly string[];
  readonly turns: readonly Turn[];
}

const READERS: Readonly<Record<ApiName, (body: Json) => Read>> = {
  anthropic: (body) => ({
    system: textOf(body["system"]),
    tools: list(body["tools"]).map(nameOf),
    turns: list(body["messages"]).flatMap(({ role, content }): Turn[] => {
      if (role !== "user") return role === "assistant" ? [{ kind: "answer" }] : [];
      if (typeof content === "string") return [{ kind: "user", text: content }];
      return list(content).map((block) =>
        block["type"] === "tool_result"
          ? { kind: "result", result: toResult(block["content"]) }
          : { kind: "user", text: textOf([block]) },
      );
    }),
  }),
  openai: (body) => ({
    system: String(body["instructions"] ?? ""),
    tools: list(body["tools"]).flatMap((tool) =>
      tool["type"] === "namespace"
        ? list(tool["tools"]).map((inner) => `${nameOf(tool)}__${nameOf(inner)}`)
        : [nameOf(tool)],
    ),
    turns: list(body["input"]).map((item): Turn => {
      if (item["type"] === "function_call_output")
        return { kind: "result", result: toResult(item["output"]) };
      return item["role"] === "user" ? { kind: "user", text: textOf(item["content"]) } : { kind: "answer" };
    }),
  }),
  "openai-chat": (body) => ({
    system: list(body["messages"])
      .filter(({ role }) => role === "system")
      .map(({ content }) => textOf(content))
      .join(""),
    tools: list(body["tools"]).map((tool) => nameOf(tool["function"])),
    turns: list(body["messages"]).flatMap(({ role, content }): Turn[] => {
      if (role === "tool") return [{ kind: "result", result: toResult(content) }];
      if (role === "user") return [{ kind: "user", text: textOf(content) }];
      return role === "assistant" ? [{ kind: "answer" }] : [];
    }),
  }),
  gemini: (body) => ({
    system: textOf((body["systemInstruction"] as Json | undefined)?.["parts"]),
    tools: list(list(body["tools"])[0]?.["functionDeclarations"]).map(nameOf),
    turns: list(body["contents"]).flatMap(({ role, parts }): Turn[] =>
      role === "model"
        ? [{ kind: "answer" }]
        : list(parts).flatMap((part): Turn[] => {
            const response = (part["functionResponse"] as Json | undefined)?.["response"] as Json | undefined;
            if (response)
              return [{ kind: "result", result: toResult(response["output"] ?? response["error"]) }];
            return part["text"] === undefined ? [] : [{ kind: "user", text: String(part["text"]) }];
          }),
    ),
  }),
};

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
const nameOf = (tool: unknown): string => String((tool as Json | undefined)?.["name"] ?? "");

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

const toResult = (content: unknown): ScriptedResult => ({
  text: textOf(content),
  images: list(content).filter(({ type }) => /image/.test(String(type))).length,
});
