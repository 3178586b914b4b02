import { type Access, ToolError, toOneLine } from "@octant/core";
import { type FrontMatter, listField, parseFrontMatter, textField } from "../context/front-matter.ts";

/** The purpose of a sub-agent: plain data, so that people can add their own. */
export interface Role {
  readonly name: string;
  readonly summary: string;
  /** Precedes the task in its system prompt. */
  readonly prompt: string;
  /** The maximum access of its calls; `none` leaves it without tools. */
  readonly access: Access | "none";
  /** Its only tools; all of its parent's when absent. */
  readonly tools?: readonly string[];
  readonly max_turns: number;
}

const REPORT =
  "End with a short report: what you found or did, where (path:line), how you checked it, what remains.";

export const ROLES: readonly Role[] = [
  {
    name: "plan",
    summary: "Thinks a task through and writes the steps; has no tools",
    prompt: `You plan. Write numbered steps that another agent can follow, each with the files it concerns and how to check it. Name risks and open questions.`,
    access: "none",
    max_turns: 3,
  },
  {
    name: "solve",
    summary: "Finds the cause of a problem or checks a result; read-only",
    prompt: `You find causes and check results. You cannot change anything. Say what is wrong, why, and what would fix it. Begin the report with PASS when the work is complete and right, or with FAIL and the reasons. ${REPORT}`,
    access: "read",
    max_turns: 40,
  },
  {
    name: "code",
    summary: "Changes the project and checks the change",
    prompt: `You carry out a task in the project. Make the smallest change that does it completely, and run what checks it. ${REPORT}`,
    access: "write",
    max_turns: 80,
  },
  {
    name: "auto",
    summary: "Works on its own, and may start sub-agents",
    prompt: `You carry out a task on your own: plan it, do it, check it, and repeat until it is right. Use sub-agents for what can be done side by side. ${REPORT}`,
    access: "write",
    max_turns: 120,
  },
  {
    name: "review",
    summary: "Reviews a change; read-only",
    prompt: `You review a change. Look for wrong behaviour, missing cases, broken promises, security holes, and needless complexity, in this order. Give each finding with path:line, why it matters, and a fix. Begin the report with PASS when nothing must be changed, or with FAIL. ${REPORT}`,
    access: "read",
    max_turns: 40,
  },
  {
    name: "explore",
    summary: "Finds out how something works; read-only",
    prompt: `You find out how something in the project works. Search and read; do not guess. ${REPORT}`,
    access: "read",
    max_turns: 40,
  },
];

/** Names of other agents' roles that do the same. */
const TRAINED_NAMES: Readonly<Record<string, string>> = {
  "general-purpose": "auto",
  general: "auto",
  worker: "auto",
  explorer: "explore",
  "code-reviewer": "review",
};

/** A role by its name, whatever its case. */
export function findRole(roles: readonly Role[], given: string): Role {
  const byName = (wanted: string) => roles.find(({ name }) => name.toLowerCase() === wanted);
  const plain = given.toLowerCase();
  const role =
    roles.find(({ name }) => name === given) ?? byName(plain) ?? byName(TRAINED_NAMES[plain] ?? "");
  if (role) return role;
  const names = roles.map(({ name }) => name).join(", ");
  throw new ToolError("NOT_FOUND", `there is no role '${given}'; roles: ${names}`, {});
}

/**
 * A role from Markdown with front matter; undefined when it has no prompt. Missing fields get the narrowest value, except
 * in a file with fields of Claude Code, where all tools are meant when none is named.
 */
export function parseRole(file: string, markdown: string): Role | undefined {
  const head = parseFrontMatter(markdown);
  const prompt = head.body.trim();
  if (prompt === "") return undefined;
  const access = textField(head, "access");
  const turns = Number(textField(head, "max_turns") ?? textField(head, "maxTurns"));
  const ignored = [...head.fields.keys()].filter((name) => !FIELDS.includes(name));
  const about = toOneLine(textField(head, "summary") ?? textField(head, "description") ?? file);
  const isForeign = head.fields.has("name") && access === undefined;
  return {
    name: isForeign ? (textField(head, "name") ?? file) : file,
    summary: ignored.length > 0 ? `${about} (ignored: ${toOneLine(ignored.join(", "))})` : about,
    prompt,
    ...(isForeign
      ? fromClaude(head)
      : { access: access === "write" || access === "none" ? access : "read", ...toolsOf(head) }),
    max_turns: Number.isInteger(turns) && turns > 0 ? turns : 40,
  };
}

const FIELDS: readonly string[] = [
  ...["name", "summary", "description", "access", "tools", "disallowedTools", "max_turns", "maxTurns"],
];

const toolsOf = (head: FrontMatter): Pick<Role, "tools"> => {
  const tools = listField(head, "tools");
  return tools ? { tools } : {};
};

/** The tools of Claude Code by name: ours that do the same, and whether they change something. */
const CLAUDE_TOOLS: Readonly<Record<string, readonly [tools: readonly string[], changes: boolean]>> = {
  ...fromEach(["Read", "Grep", "Glob", "LS", "NotebookRead"], ["fs", "search", "code", "ws", "vcs"], false),
  ...fromEach(["Edit", "MultiEdit", "Write", "NotebookEdit"], ["fs", "code"], true),
  ...fromEach(["Bash", "BashOutput", "KillShell"], ["proc", "test", "job"], true),
  ...fromEach(["WebFetch", "WebSearch"], ["net"], true),
  ...fromEach(["Task", "Agent"], ["agent"], true),
  Skill: [["ws"], false],
  TodoWrite: [["plan"], false],
};

function fromEach(names: readonly string[], tools: readonly string[], changes: boolean) {
  return Object.fromEntries(names.map((name) => [name, [tools, changes] as const]));
}

/** An agent of Claude Code: all tools when none is named, without those that are excluded. */
function fromClaude(head: FrontMatter): Pick<Role, "tools" | "access"> {
  const bare = (list: readonly string[] | undefined) => list?.map((name) => name.replace(/\(.*$/, ""));
  const excluded = new Set(bare(listField(head, "disallowedTools")));
  const given = bare(listField(head, "tools"));
  const wanted = given && !given.includes("*") ? given : undefined;
  if (!wanted && excluded.size === 0) return { access: "write" };
  const names = (wanted ?? Object.keys(CLAUDE_TOOLS)).filter((name) => !excluded.has(name));
  const known = names.map((name) => CLAUDE_TOOLS[name] ?? ([[name], true] as const));
  return {
    access: known.some(([, changes]) => changes) ? "write" : "read",
    tools: [...new Set(known.flatMap(([tools]) => tools))],
  };
}
