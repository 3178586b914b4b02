import { basename, dirname, join, resolve } from "node:path";
import { costOf, textOf, textParts } from "@octant/agent";
import { invalidArgument, ToolError, toOneLine } from "@octant/core";
import { isWithin, listChanged, PUSH, realPath, STAGE } from "@octant/host";
import { git, openPerson, type Person, repositoryOf } from "./person-program.ts";
import { asBlock, type SlashCommand, type SlashContext, type SlashOutcome } from "./slash-command.ts";

const MAX_DIFF_CHARS = 40_000;
const MAX_SHOWN_FILES = 30;
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
      using person = await openPerson(context);
      await person.run(["git", "switch", "--quiet", ...(isKnown ? [] : ["--create"]), checkName(name)]);
      return {
        text: `${isKnown ? "switched to" : "made and switched to"} \`${name}\`${person.notes(SWITCH_HOOKS)}`,
        isNews: true,
      };
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
      const { top } = repositoryOf(context);
      const folder = join(dirname(top), `${basename(top)}-${checkName(name).replaceAll("/", "-")}`);
      const isKnown = (await branches(context)).includes(name);
      using person = await openPerson(context);
      await person.run([
        "git",
        "worktree",
        "add",
        "--quiet",
        ...(isKnown ? [folder, name] : ["-b", name, folder]),
      ]);
      const how = `work there with \`cd ${folder} && octant chat\``;
      return { text: `made \`${folder}\` on branch \`${name}\`; ${how}${person.notes(SWITCH_HOOKS)}` };
    },
  },
  {
    name: "diff",
    argument: "[REF]",
    summary: "Show changes since the last commit, or since REF",
    async run(ref, context) {
      const diff = await git(context, ...DIFF, "--end-of-options", ref === "" ? "HEAD" : ref);
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
      const { stdout } = await repositoryOf(context).run(["stash", ...args], {
        settings: await ignoringSubmodules(context),
        hasMagicPaths: true,
      });
      return { text: asBlock(stdout.toString()), isNews: true };
    },
  },
];

const SWITCH_HOOKS = ["post-checkout", "reference-transaction", "post-index-change"];
const COMMIT_HOOKS = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", ...SWITCH_HOOKS];

/** Git would start itself in a nested repository, under the settings of that one. */
const DIFF = ["diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"] as const;

/** For commands without such an option: by default, and for each submodule that asks for more. */
async function ignoringSubmodules(context: SlashContext): Promise<(readonly [string, string])[]> {
  const { stdout } = await repositoryOf(context).run(
    ["config", "--null", "--name-only", "--file=.gitmodules", "--get-regexp", "^submodule\\..*\\.ignore$"],
    { codes: [0, 1] },
  );
  const keys = ["diff.ignoreSubmodules", ...stdout.toString().split("\0").filter(Boolean)];
  return keys.map((key) => [key, "all"]);
}

async function branches(context: SlashContext): Promise<readonly string[]> {
  const listed = await git(context, "for-each-ref", "--format=%(refname:short)", "refs/heads");
  return listed.split("\n").filter(Boolean);
}

function checkName(name: string): string {
  if (!/^-|\s/.test(name)) return name;
  throw invalidArgument("", `'${name}' is not a branch name`);
}

async function commit(given: string, context: SlashContext): Promise<SlashOutcome> {
  const status = await git(context, "status", "--porcelain", "--ignore-submodules=dirty");
  if (status === "") return { text: "there is nothing to commit" };
  using person = await openPerson(context);
  return await commitAs(person, given, context, status);
}

async function commitAs(
  person: Person,
  given: string,
  context: SlashContext,
  status: string,
): Promise<SlashOutcome> {
  const hasStaged = status.split("\n").some((line) => /^[MADRCT]/.test(line));
  if (!hasStaged) await person.run(["git", ...STAGE], { input: await listChanged(repositoryOf(context)) });
  const undoStaging = () => (hasStaged ? undefined : git(context, "reset", "--quiet"));
  try {
    const message = given === "" ? await propose(context) : given;
    if (given === "" && context.hasInput) {
      const files = await git(context, ...DIFF, "--cached", `--stat-count=${MAX_SHOWN_FILES}`, "--stat");
      await undoStaging();
      const text = `to be committed:\n\n${asBlock(files)}\n\nedit the message or accept it with Enter`;
      return { draft: `/commit ${message}`, text };
    }
    await person.run(["git", "commit", "--quiet", "--no-status", "--file=-"], { input: message });
  } catch (cause) {
    await undoStaging();
    throw cause;
  }
  const shown = await git(context, "log", "-1", "--stat", "--format=%h %s%n%n%b");
  return { text: `${asBlock(shown)}${person.notes(COMMIT_HOOKS)}`, isNews: true };
}

async function propose(context: SlashContext): Promise<string> {
  const diff = await git(context, ...DIFF, "--cached", "--stat", "--patch");
  const { stdout: recent } = await repositoryOf(context).run(["log", "-8", "--format=%s"], {
    codes: [0, 128],
  });
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
  if (base === undefined)
    throw new ToolError(
      "VCS_ERROR",
      `this repository knows no branch of origin that a pull request could go into; in your own terminal, run \`git fetch\`, or push the first one: \`git push -u origin ${branch || "main"}\``,
      { exit_code: null },
    );
  if (branch === "" || branch === base)
    return {
      text: `you are on \`${branch || "no branch"}\`; make a branch for the pull request first: \`/branch NAME\``,
    };
  using person = await openPerson(context);
  // Checked before anything is committed or pushed.
  await person.run(["gh", "--version"], { how: GET_GH });
  const to = await checkRemote(context);
  const status = await git(context, "status", "--porcelain", "--ignore-submodules=dirty");
  if (status !== "") {
    const done = await commitAs(person, given, context, status);
    if (done.draft !== undefined) return { ...done, draft: done.draft.replace("/commit", "/commit-push-pr") };
  }
  await person.run(["git", ...PUSH, "--quiet", "--set-upstream", "origin", branch]);
  const subjects = (await git(context, "log", "--reverse", "--format=%s", `origin/${base}..HEAD`))
    .trim()
    .split("\n");
  const title = given.split("\n", 1)[0] || subjects[0] || branch;
  const body = subjects.map((subject) => `- ${subject}`).join("\n");
  const url = await person.run(
    ["gh", "pr", "create", "--base", base, "--head", branch, "--title", title, "--body-file", "-"],
    { how: GET_GH, input: body },
  );
  return {
    text: `pull request: ${url.trim()}\npushed to ${to}${person.notes([...COMMIT_HOOKS, "pre-push"])}`,
    isNews: true,
  };
}

/** Returns where a push goes. A repository on this machine runs hooks of its own, so it must not be one that commands can change. */
async function checkRemote(context: SlashContext): Promise<string> {
  const urls = (await git(context, "remote", "get-url", "--push", "--all", "origin")).trim().split("\n");
  const { roots } = context.opened.octant.workspace.confinement;
  const { top } = repositoryOf(context);
  for (const url of urls) {
    const path = /^(?![\w+.-]+:\/\/)[^:]*(?:\/|$)|^file:\/\//.test(url)
      ? url.replace(/^file:\/\/[^/]*/, "")
      : undefined;
    if (path === undefined) continue;
    const place = resolve(top, path);
    const real = realPath(place) ?? place;
    if (roots.some((root) => isWithin(root, real)))
      throw new ToolError(
        "VCS_ERROR",
        `the remote 'origin' is a repository inside the workspace (${toOneLine(url)}), whose hooks commands can change; push to it in your own terminal`,
        { exit_code: null },
      );
  }
  return urls.map(toOneLine).join(", ");
}

/** The branch of origin/HEAD; where it is not set, the first usual name that origin has, or any. */
async function defaultBranch(context: SlashContext): Promise<string | undefined> {
  const listed = await git(
    context,
    "for-each-ref",
    "--format=%(refname:lstrip=3) %(symref:lstrip=3)",
    "refs/remotes/origin",
  );
  const found = listed.split("\n").map((line) => line.split(" "));
  const [, head] = found.find(([name, target]) => name === "HEAD" && target) ?? [];
  const names = found.flatMap(([name]) => (name && name !== "HEAD" ? [name] : []));
  return head ?? USUAL_BRANCHES.find((name) => names.includes(name)) ?? names[0];
}

const USUAL_BRANCHES = ["main", "master", "trunk", "develop"];
