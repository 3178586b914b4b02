/** A call under the name and with the fields that hooks of Claude Code know; ours stay beside them. */
export function toClaudeCall(name: string, input: Readonly<Record<string, unknown>>) {
  const tool_name = NAMES[name] ?? name;
  const { uri, command, content, edits } = input;
  const first: unknown = Array.isArray(edits) ? edits[0] : undefined;
  const { old: old_string, new: new_string } = Object(first);
  return {
    tool_name,
    tool_input: {
      ...input,
      ...(typeof uri === "string" && { file_path: uri }),
      ...(Array.isArray(command) && { command: command.join(" ") }),
      ...(content !== undefined && { content }),
      ...(typeof old_string === "string" && { old_string, new_string }),
    },
  };
}

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
};
