import type { Question } from "../../../src/api.ts";

/** A question in a few words: what would happen, and to what. */
export interface Headline {
  readonly title: string;
  readonly target?: string;
}

const TITLES: Readonly<Record<string, string>> = {
  "proc.exec": "Run a command",
  "fs.write": "Create a file",
  "fs.apply_patch": "Change a file",
  "fs.rm": "Delete",
  "fs.mkdir": "Create a folder",
  "code.rename": "Rename a symbol",
  "vcs.commit": "Commit",
  "vcs.checkout": "Switch the branch",
  "test.run": "Run tests",
  "net.fetch": "Fetch a web page",
};

const TARGETS = ["command", "uri", "path", "url", "query", "message", "name", "ref"];

export function headlineOf(question: Question): Headline {
  if (question.kind !== "permission")
    return {
      title: question.message?.split("\n")[0] ?? "A question",
      ...(question.server && { target: question.server }),
    };
  const title = TITLES[question.action] ?? question.summary ?? question.action;
  const target = targetOf(question.input ?? {}) ?? filesOf(question.preview);
  return { title: title.replace(/\.$/, ""), ...(target !== undefined && { target }) };
}

/** The argument that says most about a call. */
export function targetOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const name = TARGETS.find((one) => input[one] !== undefined);
  const value = name === undefined ? undefined : input[name];
  if (Array.isArray(value)) return value.map(String).join(" ");
  if (typeof value === "string") return value;
  const { files } = input;
  return Array.isArray(files) ? files.map((file) => String(Object(file).uri ?? file)).join(", ") : undefined;
}

/** The files of a diff. */
function filesOf(preview = ""): string | undefined {
  const files = [...preview.matchAll(/^\+\+\+ (?:b\/)?(.+)$/gm)].map(([, path = ""]) => path);
  return files.length > 0 ? files.join(", ") : undefined;
}

export const RISKS: Readonly<Record<string, string>> = {
  destructive: "Changes or deletes",
  open_world: "Reaches the network",
  runs_commands: "Runs commands",
  unconfined: "Outside the sandbox",
};
