/** The words by which people know other agents, as commands and flags of ours. */

const FLAGS: Readonly<Record<string, string>> = { "-c": "--continue", "-m": "--model", "-r": "--resume" };
const PRINT: readonly string[] = ["-p", "--print"];

/** `-p`, `-c`, `exec`, `resume`, and a task without a command; other words stay. */
export function toOwnWords(words: readonly string[]): readonly string[] {
  const [first = "", ...rest] = words;
  if (first === "exec") return toOwnWords(["run", ...rest]);
  if (first === "resume") return toOwnWords(["chat", ...toResume(rest)]);
  if (first === "run") return ["run", ...toFlags(rest)];
  if (first === "chat") return ["chat", ...toPicker(toFlags(rest))];
  if (first.startsWith("-") && words.some((word) => PRINT.includes(word)))
    return ["run", ...toFlags(words.filter((word) => !PRINT.includes(word)))];
  // A task has spaces; one word alone is more likely a command that was misspelt.
  return /\s/.test(first) || FLAGS[first] ? toOwnWords(["chat", ...words]) : words;
}

const toResume = (rest: readonly string[]): readonly string[] =>
  rest[0] === "--last" ? ["--continue", ...rest.slice(1)] : ["--resume", ...rest];

const toFlags = (words: readonly string[]): readonly string[] => words.map((word) => FLAGS[word] ?? word);

/** Without an id, `--resume` opens the list of sessions. */
function toPicker(words: readonly string[]): readonly string[] {
  const at = words.indexOf("--resume");
  const isBare = at >= 0 && (words[at + 1] ?? "-").startsWith("-");
  return isBare ? words.toSpliced(at, 1).concat("/resume") : words;
}

/** What to write instead of a flag that only other agents have. */
export const hintForFlag = (name: string): string | undefined =>
  INSTEAD.find(({ flags }) => flags.includes(name))?.hint;

const INSTEAD = [
  {
    flags: [
      ..."permission-mode dangerously-skip-permissions yolo full-auto approval-mode a".split(" "),
      ..."ask-for-approval sandbox dangerously-bypass-approvals-and-sandbox".split(" "),
    ],
    hint: "--mode says how much runs without a question: ask, edits, sandbox or plan",
  },
  {
    flags: "allowedTools allowed-tools disallowedTools disallowed-tools".split(" "),
    hint: "--tools lists the tools, and octant run --allow what runs without a question",
  },
  { flags: ["output-format"], hint: "octant run --json and --stream-json print events and the result" },
  { flags: "add-dir include-directories C cd".split(" "), hint: "--root DIR names a folder to work in" },
];
