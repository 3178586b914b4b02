import { parsePatch } from "@octant/host";
import { z } from "zod";

type Fields = Readonly<Record<string, unknown>>;

export interface ClaudeCall {
  readonly tool_name: string;
  readonly tool_input: Fields;
}

/**
 * A call under the name and with the fields that hooks of Claude Code know; ours stay beside them. Their calls have one
 * file each, with its absolute path: a call about several files is one for each.
 */
export function toClaudeCalls(name: string, input: Fields, named: readonly string[]): readonly ClaudeCall[] {
  const files = [...new Set(named)];
  const tool_name = toClaudeName(name);
  const tool_input = { ...input, ...ALIKE[name]?.(input) };
  const { uri, patch } = input;
  const isAboutFiles = !name.startsWith("mcp__") && (uri !== undefined || patch !== undefined);
  if (!isAboutFiles || files.length === 0) return [{ tool_name, tool_input }];
  return files.map((file_path) => ({
    tool_name,
    tool_input: { ...tool_input, file_path, ...editOf(patch, file_path, files) },
  }));
}

/** The name under which matchers know a call. */
export const toClaudeName = (name: string): string => NAMES[name] ?? name;

const NAMES: Readonly<Record<string, string>> = {
  "proc.exec": "Bash",
  "fs.read": "Read",
  "fs.write": "Write",
  "fs.apply_patch": "Edit",
  "fs.list": "Glob",
  "fs.search_text": "Grep",
  "net.request": "WebFetch",
  "net.search": "WebSearch",
  "agent.spawn": "Task",
  "ws.skill": "Skill",
};

const ALIKE: Readonly<Record<string, (input: Fields) => Fields>> = {
  "proc.exec": ({ command }) => (Array.isArray(command) ? { command: command.join(" ") } : {}),
  "fs.list": ({ uri }) => (uri === undefined ? {} : { path: uri }),
  "agent.spawn": ({ role, task }) => ({ subagent_type: role, prompt: task, description: task }),
  "ws.skill": ({ name }) => ({ skill: name }),
};

const Edits = z.array(
  z.object({ old: z.string().optional(), new: z.string().optional(), text: z.string().optional() }),
);

/** What the patch takes out of this file and puts into it. */
function editOf(patch: unknown, file: string, files: readonly string[]): Fields {
  const edits = Edits.safeParse(patch).data;
  if (edits)
    return {
      old_string: joined(edits.map((edit) => edit.old)),
      new_string: joined(edits.map((edit) => edit.new ?? edit.text)),
    };
  if (typeof patch !== "string") return {};
  const lines = linesOf(patch, file, files.length === 1);
  const text = (op: string) => joined(lines.filter((line) => line.op === op).map((line) => line.text));
  return { old_string: text("-"), new_string: text("+") };
}

/** The changed lines of the file; of two names that end like its path, the longer one is its own. */
function linesOf(patch: string, file: string, isAlone: boolean) {
  try {
    const changes = parsePatch(patch, file).map((change) => {
      const names = [change.path, "newPath" in change ? (change.newPath ?? "") : ""];
      const fits = names.filter((name) => file === name || file.endsWith(`/${name}`));
      return { edits: change.edits, fit: Math.max(0, ...fits.map((name) => name.length)) };
    });
    const best = Math.max(...changes.map(({ fit }) => fit));
    return changes
      .filter(({ fit }) => isAlone || (fit > 0 && fit === best))
      .flatMap(({ edits }) => (edits.form === "hunks" ? edits.hunks.flatMap(({ lines }) => lines) : []));
  } catch {
    // A ref, or a text that the call will refuse.
    return [];
  }
}

const joined = (texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined).join("\n");
