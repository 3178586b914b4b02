import { basename, dirname, join } from "node:path";
import { costOf, textOf, textParts } from "@octant/agent";
import { invalidArgument } from "@octant/core";
import { git, outputOf, runAsPerson } from "./person-program.ts";
import { asBlock, type SlashCommand, type SlashContext, type SlashOutcome } from "./slash-command.ts";

const MAX_DIFF_CHARS = 40_000;
const GET_GH = "install the GitHub CLI from https://cli.github.com and sign in with: gh auth login";

const MESSAGE_RULES = `You write git commit messages in the conventional form: type(scope): subject.
Types: feat, fix, docs, refactor, perf, test, build, ci, chore. The subject is imperative, at most 72 characters, without a
full stop. Add a body of at most five lines only if the reason is not plain from the subject. Answer with the message alone.`;

export const GIT_COMMANDS: readonly SlashCommand[] = [
  {
    name: "branch",
    argument: "[NAME]",
    summary: "List branches, or switch to one, creating it if needed",
    complete: branches,
    async run(name, context) {
      if (name === "") return { text: asBlock(await git(context, "branch", "--list", "-vv")) };
      const isKnown = (await branches(context)).includes(name);
      await git(context, "switch", ...(isKnown ? [] : ["--create"]), checkName(name));
      return { text: `${isKnown ? "switched to" : "made and switched to"} \`${name}\`` };
    },
  },
  {
    name: "commit",
    argument: "[MESSAGE]",
    summary: "Commit staged changes, or all; the model proposes a message to edit or accept",
    run: async (message, context) => commit(message, context),
  },
  {
    name: "commit-push-pr",
    argument: "[MESSAGE]",
    summary: "Commit, push the branch and open a pull request with gh",
    run: commitPushPr,
  },
  {
    name: "worktree",
    argument: "[NAME]",
    summary: "List worktrees, or create one beside this folder on a branch of that name",
    async run(name, context) {
      if (name === "") return { text: asBlock(await git(context, "worktree", "list")) };
      const top = (await git(context, "rev-parse", "--show-toplevel")).trim();
      const folder = join(dirname(top), `${basename(top)}-${checkName(name).replaceAll("/", "-")}`);
      const isKnown = (await branches(context)).includes(name);
      await git(context, "worktree", "add", ...(isKnown ? [folder, name] : ["-b", name, folder]));
      return { text: `made \`${folder}\` on branch \`${name}\`; work there with \`cd ${folder} && octant\`` };
    },
  },
  {
    name: "diff",
    argument: "[REF]",
    summary: "Show changes since the last commit, or since REF",
    async run(ref, context) {
      const diff = await git(context, "diff", "--end-of-options", ref === "" ? "HEAD" : ref);
      const added = await git(context, "ls-files", "--others", "--exclude-standard");
      const untracked = added === "" ? "" : `\n\nnot tracked:\n${asBlock(added)}`;
      return {
        text:
          diff === "" && added === "" ? "nothing changed" : `${diff && asBlock(diff, "diff")}${untracked}`,
      };
    },
  },
  {
    name: "stash",
    argument: "[push|pop|list]",
    summary: "Stash changes, including untracked files, or restore them",
    complete: () => ["push", "pop", "list"],
    async run(verb, context) {
      if (verb === "list")
        return { text: asBlock((await git(context, "stash", "list")) || "the stash is empty") };
      if (verb !== "" && verb !== "push" && verb !== "pop")
        throw invalidArgument("", `/stash takes push, pop or list, not '${verb}'`);
      const args = verb === "pop" ? ["pop"] : ["push", "--include-untracked"];
      return { text: asBlock(await git(context, "stash", ...args)) };
    },
  },
];

async function branches(context: SlashContext): Promise<readonly string[]> {
  const listed = await git(context, "for-each-ref", "--format=%(refname:short)", "refs/heads");
  return listed.split("\n").filter(Boolean);
}

function checkName(name: string): string {
  if (!/^-|\s/.test(name)) return name;
  throw invalidArgument("", `'${name}' is not a branch name`);
}

async function commit(given: string, context: SlashContext): Promise<SlashOutcome> {
  const status = await git(context, "status", "--porcelain");
  if (status === "") return { text: "there is nothing to commit" };
  const hasStaged = status.split("\n").some((line) => /^[MADRCT]/.test(line));
  if (!hasStaged) await git(context, "add", "--all");
  const undoStaging = () => (hasStaged ? undefined : git(context, "reset", "--quiet"));
  try {
    const message = given === "" ? await propose(context) : given;
    if (given === "" && context.hasInput) {
      await undoStaging();
      return { draft: `/commit ${message}`, text: "edit the message or accept it with Enter" };
    }
    await outputOf(["git", "commit", "--quiet", "--file=-"], context, { input: message });
  } catch (cause) {
    await undoStaging();
    throw cause;
  }
  return { text: asBlock(await git(context, "log", "-1", "--stat", "--format=%h %s%n%n%b")) };
}

async function propose(context: SlashContext): Promise<string> {
  const diff = await git(context, "diff", "--cached", "--stat", "--patch", "--no-ext-diff");
  const recent = (await runAsPerson(["git", "--no-pager", "log", "-8", "--format=%s"], context)).stdout;
  const question = `Recent subjects:\n${recent}\nThe change:\n${diff.slice(0, MAX_DIFF_CHARS).toWellFormed()}`;
  const answer = await askModel(MESSAGE_RULES, question, context);
  return answer.replace(/^```\w*\n|\n```$/g, "").trim();
}

/** Asks the session's model one question outside of the conversation. */
async function askModel(system: string, question: string, context: SlashContext): Promise<string> {
  const { client, octant, agent } = context.opened;
  const messages = [{ role: "user", origin: "person", content: textParts(question) }] as const;
  for await (const event of client.send({ system, tools: [], messages }, context.signal))
    if (event.type === "done") {
      const cost = costOf(event.usage, client.model.price);
      await octant.spending.spend(agent.session.id, { by: "command", turns: 0, usage: event.usage, cost });
      return textOf(event.message.content).trim();
    }
  return "";
}

async function commitPushPr(given: string, context: SlashContext): Promise<SlashOutcome> {
  const branch = (await git(context, "branch", "--show-current")).trim();
  const base = await defaultBranch(context);
  if (branch === "" || branch === base)
    return {
      text: `you are on \`${branch || "no branch"}\`; make a branch for the pull request first: \`/branch NAME\``,
    };
  // Checked before anything is committed or pushed.
  await outputOf(["gh", "--version"], context, { how: GET_GH });
  if ((await git(context, "status", "--porcelain")) !== "") {
    const done = await commit(given, context);
    if (done.draft !== undefined) return { ...done, draft: done.draft.replace("/commit", "/commit-push-pr") };
  }
  await git(context, "push", "--set-upstream", "origin", branch);
  const subjects = (await git(context, "log", "--reverse", "--format=%s", `origin/${base}..HEAD`))
    .trim()
    .split("\n");
  const title = given.split("\n", 1)[0] || subjects[0] || branch;
  const body = subjects.map((subject) => `- ${subject}`).join("\n");
  const url = await outputOf(
    ["gh", "pr", "create", "--base", base, "--head", branch, "--title", title, "--body-file", "-"],
    context,
    { how: GET_GH, input: body },
  );
  return { text: `pull request: ${url.trim()}` };
}

/** The branch of origin/HEAD; main when it is not set. */
async function defaultBranch(context: SlashContext): Promise<string> {
  const { code, stdout } = await runAsPerson(
    ["git", "symbolic-ref", "--short", "refs/remotes/origin/HEAD"],
    context,
  );
  return code === 0 ? stdout.trim().replace(/^origin\//, "") : "main";
}
