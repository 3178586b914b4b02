import type { Registry } from "@octant/core";
import type { PromptSource } from "./calls.ts";

type Prompt = ReturnType<PromptSource["list"]>[number];
type Arguments = Readonly<Record<string, string>>;

/** One step and its required tools; it is left out when one of them is missing. */
type Step = readonly [tools: readonly string[], text: string];

interface Recipe extends Prompt {
  task(args: Arguments): string;
  steps(args: Arguments): readonly Step[];
}

/** Prompts for the most common tasks, using the available tools in the order that works best. */
export function createPrompts(registry: Registry): PromptSource {
  const has = (tool: string) => registry.get(tool) !== undefined;
  return {
    list: () => RECIPES.map(({ task: _task, steps: _steps, ...prompt }) => prompt),
    async get(name, args) {
      const recipe = RECIPES.find((one) => one.name === name);
      if (!recipe) throw new TypeError(`there is no prompt '${name}'`);
      const steps = recipe.steps(args).filter(([tools]) => tools.every(has));
      const lines = steps.map(([, text], index) => `${index + 1}. ${text}`);
      const text = [recipe.task(args), "", ...lines].join("\n");
      return {
        description: recipe.description,
        messages: [{ role: "user", content: { type: "text", text } }],
      };
    },
  };
}

const PATH = { name: "path", description: "A file or folder to stay in" };

const within = ({ path }: Arguments) => (path ? ` in ${path}` : "");

const RECIPES: readonly Recipe[] = [
  {
    name: "review_change",
    title: "Review a change",
    description: "Find what is wrong with a change before it is merged",
    arguments: [
      { name: "ref", description: "What to compare with, such as main; uncommitted changes by default" },
      PATH,
    ],
    task: (args) =>
      `Review the change ${args["ref"] ? `since ${args["ref"]}` : "that is not committed"}${within(args)}.`,
    steps: (args) => [
      [["ws"], "ws.detect: learn how the project is built and tested, and read its instruction files."],
      [
        ["vcs"],
        `vcs.diff${args["ref"] ? ` with ref ${args["ref"]}` : ""}: the change itself; vcs.log for why.`,
      ],
      [["fs"], "fs.read each changed file around the hunks: a diff hides what it breaks."],
      [["code"], "code.references for every changed signature: all callers must still be right."],
      [["test"], "test.run the tests near the change; a failing one is a finding."],
      [
        [],
        "Report findings, worst first: file, line, what goes wrong with which input, and the fix. Change nothing.",
      ],
    ],
  },
  {
    name: "fix_failing_test",
    title: "Fix a failing test",
    description: "Find out why a test fails, and fix the cause",
    arguments: [{ name: "test", description: "Its name, or a part of it; all tests when absent" }, PATH],
    task: (args) =>
      `Make ${args["test"] ? `the test '${args["test"]}'` : "the failing tests"} pass${within(args)}.`,
    steps: (args) => [
      [
        ["test"],
        `test.run${args["test"] ? ` with filter ${args["test"]}` : ""}: see it fail, and read its message.`,
      ],
      [["fs"], "fs.read the test at the place that failed, then the code that it calls."],
      [["code"], "code.definition and code.references: follow the wrong value to where it is made."],
      [["vcs"], "vcs.log and vcs.blame of that place: what changed last, and why?"],
      [
        ["fs"],
        "fs.apply_patch the cause, with base_hash from fs.read. Change the test only if it asks for the wrong thing.",
      ],
      [["test"], "test.run the same test, then the whole suite: nothing else may fail."],
      [[], "Say what the cause was, in two sentences."],
    ],
  },
  {
    name: "explain_symbol",
    title: "Explain a symbol",
    description: "What a function, class or type is for, and how it is used",
    arguments: [{ name: "symbol", description: "Its name", required: true }, PATH],
    task: (args) => `Explain ${args["symbol"]}${within(args)}.`,
    steps: (args) => [
      [
        ["code"],
        `code.search_symbol ${args["symbol"]}, then code.definition and code.hover of what fits best.`,
      ],
      [
        ["fs"],
        `fs.search_text ${args["symbol"]} if the index does not know it; fs.read the definition as a whole.`,
      ],
      [["code"], "code.references: pick the two or three uses that show most."],
      [["vcs"], "vcs.log of its file, where its reason is not plain from the code."],
      [
        [],
        "Explain: what it promises, what it needs, what can go wrong, who uses it. Give file and line for each claim.",
      ],
    ],
  },
  {
    name: "plan_change",
    title: "Plan a change",
    description: "A plan, grounded in the code, before anything is touched",
    arguments: [{ name: "goal", description: "What should be different afterwards", required: true }, PATH],
    task: (args) => `Plan this change${within(args)}, and change nothing yet: ${args["goal"]}`,
    steps: () => [
      [
        ["ws"],
        "ws.detect: what the project is, how it is tested, and which rules its instruction files set.",
      ],
      [
        ["search"],
        "search.query with the goal, and in `also` likely names and synonyms: where such things live.",
      ],
      [["fs"], "fs.search_text for the words of the goal; fs.list for what is beside them."],
      [
        ["code"],
        "code.outline and code.references: every place that has to change, and those that depend on it.",
      ],
      [["test"], "test.list: which tests cover those places, and which are missing."],
      [
        [],
        "Write the plan: steps small enough to test one by one, each with its files, its risk and its test.",
      ],
    ],
  },
];
