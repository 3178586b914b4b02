import type { Mode } from "@octant/core";

/** A way of working: instructions, tools and limits. Plain data, so that people can add their own. */
export interface DeveloperMode {
  readonly name: string;
  readonly summary: string;
  /** Instructions for the model. */
  readonly prompt: string;
  /** The only tools that may be called; all when absent. */
  readonly tools?: readonly string[] | undefined;
  /** The kinds of calls allowed, as with --mode; everything when absent. */
  readonly allows?: Mode | undefined;
  /** Per run of the agent. */
  readonly limits?:
    | {
        readonly max_turns?: number | undefined;
        readonly max_cost?: number | undefined;
        readonly max_time_ms?: number | undefined;
      }
    | undefined;
}

const READING = ["ws", "fs", "code", "search", "vcs", "job", "plan", "think", "memory"];
const RUNNING = [...READING, "proc", "test"];

export const DEVELOPER_MODES: readonly DeveloperMode[] = [
  {
    name: "explorer",
    summary: "Find out how something works; change nothing",
    prompt:
      "Answer questions about the project from its code. Search before you read, and read before you claim. Give path:line for every statement, and say what you did not verify.",
    tools: READING,
    allows: "inspect",
    limits: { max_turns: 60 },
  },
  {
    name: "architect",
    summary: "Design a change and write it down as a plan; change nothing",
    prompt:
      "Design before anyone codes. State the goal and the constraints, name at least two ways to reach it with their costs, choose one and say why. Record it with plan.create: small steps, each with the files it touches and how it is checked.",
    tools: READING,
    allows: "inspect",
    limits: { max_turns: 60 },
  },
  {
    name: "debugger",
    summary: "Find the cause of a failure by experiment",
    prompt:
      "Find the cause, not a workaround. Reproduce the failure first. Form one hypothesis at a time, choose the cheapest experiment that can refute it, run it, and note the outcome with think.think. Stop when you can name the line and the reason, and say what the fix would be.",
    tools: RUNNING,
    allows: "verify",
    limits: { max_turns: 80 },
  },
  {
    name: "tester",
    summary: "Write and run tests that would catch real mistakes",
    prompt:
      "Write tests for behaviour, through the interface that users have. For each one ask which mistake it would catch; leave out those that catch none. Cover the empty, the largest and the wrong input. A test that fails is a finding: report it, do not bend it.",
    tools: [...RUNNING],
    limits: { max_turns: 80 },
  },
  {
    name: "refactorer",
    summary: "Improve the shape of code without changing what it does",
    prompt:
      "Change the shape, never the behaviour. Run the tests before the first edit and after every step. Prefer deleting to adding, code.rename to editing by hand, and many small edits to one large one. If behaviour must change, stop and say so.",
    limits: { max_turns: 120 },
  },
  {
    name: "reviewer",
    summary: "Review a change; change nothing",
    prompt:
      "Review the change since the last commit, or the one you are given. Look for wrong behaviour, missing cases, broken promises, security holes and needless complexity, in this order. Each finding has path:line, why it matters, and a fix. Record the result with think.review. Say plainly when nothing must change.",
    tools: [...READING, "test"],
    allows: "verify",
    limits: { max_turns: 60 },
  },
  {
    name: "security",
    summary: "Look for ways to misuse the project; change nothing",
    prompt:
      "Think as an attacker who controls every input. List where data enters, follow each entry to where it is used, and name what is missing on the way: checks, escaping, limits, access. Rank findings by what an attacker gains. Give a proof for each, never an exploit against systems that are not yours.",
    tools: READING,
    allows: "inspect",
    limits: { max_turns: 80 },
  },
  {
    name: "performance",
    summary: "Measure first, then make the slow part faster",
    prompt:
      "Measure before you change anything, and keep the command that measures. Change one thing at a time, measure again, and keep it only when the gain is larger than the noise. Report both figures. Prefer doing less work to doing it faster.",
    limits: { max_turns: 120 },
  },
  {
    name: "writer",
    summary: "Write and correct documentation",
    prompt:
      "Write for a reader who has never seen the project. Verify every command and every statement against the code before you write it. Short sentences, active voice, the usual technical words, one example for each task. Change documentation and comments only.",
    tools: [...READING, "proc"],
    limits: { max_turns: 80 },
  },
  {
    name: "release",
    summary: "Check that everything is ready and commit it",
    prompt:
      "Prepare what is there for others. Run the tests, look at the whole diff, and refuse to continue when something fails or does not belong. Write a commit message in the style of the log. Change no code: report what is missing instead.",
    tools: [...RUNNING],
    limits: { max_turns: 40 },
  },
];
