import type { Access } from "@octant/core";

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

/**
 * A role from Markdown with front matter; undefined when it has no prompt. Missing fields get the narrowest value.
 */
export function parseRole(name: string, markdown: string): Role | undefined {
  const [, head = "", body = markdown] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(markdown) ?? [];
  const fields = new Map(
    head.split("\n").flatMap((line) => {
      const [, key = "", value = ""] = /^(\w+):\s*(.*?)\s*$/.exec(line) ?? [];
      return key === "" ? [] : [[key, value] as const];
    }),
  );
  if (body.trim() === "") return undefined;
  const access = fields.get("access");
  const tools = fields.get("tools");
  const turns = Number(fields.get("max_turns"));
  return {
    name,
    summary: fields.get("summary") ?? fields.get("description") ?? name,
    prompt: body.trim(),
    access: access === "write" || access === "none" ? access : "read",
    ...(tools !== undefined && {
      tools: tools
        .replace(/[[\]]/g, "")
        .split(",")
        .map((tool) => tool.trim()),
    }),
    max_turns: Number.isInteger(turns) && turns > 0 ? turns : 40,
  };
}
