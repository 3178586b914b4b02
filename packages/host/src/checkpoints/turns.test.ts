import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCheckpoints } from "../../testing/checkpoints/open-checkpoints.ts";
import { treeOf } from "../../testing/checkpoints/tree-of.ts";
import { isWithin } from "../path.ts";

const RUNS = Number(process.env["FUZZ_RUNS"] ?? 8);
const MAX_RUN_MS = 15_000;

type Tree = Readonly<Record<string, string>>;

/** The plain copies that judge an undo: the tree around every call of the turn. */
interface Judged {
  readonly id: number;
  readonly calls: readonly { readonly before: Tree; readonly after: Tree }[];
}

const TEXT = Array.from({ length: 12 }, (_, at) => `line ${at}`).join("\n");
const SETUP = `
  export HOME=/nonexistent GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t
  git init -qb main; mkdir -p src data pkg; for f in src/a src/b list; do printf '${TEXT}\n' > $f; done
  echo base > pkg/x; git add .; git commit -qm base
  git checkout -qb other; printf 'data/\n*.log\n.env\n' > .gitignore; echo other > src/b; git add .; git commit -qm other
  git init -qb main pkg/sub; echo 1 > pkg/sub/f; git -C pkg/sub add .; git -C pkg/sub commit -qm sub
  for f in data/x x.log .env; do echo kept > $f; done`;

let template: string;
beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), "octant-turns-"));
  execFileSync("/bin/bash", ["-ec", SETUP], { cwd: template });
});
afterAll(() => rmSync(template, { recursive: true }));

const number = fc.nat(99);
const path = fc.constantFrom(
  "src/a",
  "src/b",
  "src/c",
  "list",
  "data/x",
  "data/y",
  "x.log",
  ".env",
  "pkg/x",
  "pkg/sub/f",
);
const line = fc.nat(11);
const agentCommand = fc.oneof(
  fc.tuple(path, number).map(([p, n]) => `mkdir -p "$(dirname ${p})"; echo agent ${n} > ${p}`),
  fc.tuple(path, line, number).map(([p, at, n]) => `sed -i 's/^line ${at}$/agent ${n}/' ${p}`),
  fc.constantFrom("src", "src/a", "data", "pkg/sub", ".env", "list").map((p) => `rm -rf ${p}`),
  fc.constantFrom(
    "mv src lib",
    "mv src/a src/A",
    "mv lib src",
    "cp -r src lib",
    "ln -sf list src/c",
    "chmod 600 list",
  ),
  fc.constantFrom(
    "rm list; mkdir -p list; echo 1 > list/in",
    "rm -rf src; echo 1 > src",
    "mkdir -p new/empty",
  ),
  fc.constantFrom("other", "main").map((branch) => `git checkout -qf ${branch}`),
  fc.constantFrom(
    "rm -f .gitignore",
    ": > .gitignore",
    "echo 'src/c' >> .gitignore",
    "echo '!data/' >> .gitignore",
  ),
  fc.constantFrom("echo 'src/b' >> .git/info/exclude", ": > .git/info/exclude", "echo '*' > pkg/.gitignore"),
  fc.constantFrom(
    "git commit -qam agent",
    "git stash -q",
    "git reset -q --hard HEAD~1",
    "git branch -qD main",
  ),
  fc.constantFrom("rm -rf pkg/sub/.git", "rm -rf .git", "git init -q data", "git -C pkg/sub commit -qam sub"),
);
/** A person never removes anything here, so every line of theirs must be found again. */
const personEdit = fc.oneof(
  path.map((p) => `mkdir -p "$(dirname ${p})" && echo person $N >> ${p}`),
  fc.tuple(path, line).map(([p, at]) => `sed -i 's/^line ${at}$/person $N/' ${p}`),
  fc
    .constantFrom("mine", "src/mine", "data/mine", "new/mine", "list/mine", "lib/mine")
    .map((p) => `mkdir -p "$(dirname ${p})" && echo person $N >> ${p}`),
  fc.constantFrom("echo '# person $N' >> .gitignore", "echo '*.tmp # person $N' >> .git/info/exclude"),
);
const someEdits = fc.array(personEdit, { maxLength: 2 });
const turn = fc.array(fc.tuple(fc.array(agentCommand, { minLength: 1, maxLength: 3 }), someEdits), {
  minLength: 1,
  maxLength: 3,
});
const step = fc.oneof(
  { weight: 2, arbitrary: turn.map((calls) => ({ calls })) },
  { weight: 3, arbitrary: fc.constantFrom({ direction: "undo" as const }, { direction: "redo" as const }) },
  { weight: 1, arbitrary: someEdits.map((edits) => ({ edits })) },
);

/** Paths without the folders of repositories, in which git itself works. */
const isFile = (at: string) => !/(?:^|\/)\.git\//.test(at) && !at.endsWith("/");
const inRepository = (tree: Tree) => Object.entries(tree).filter(([at]) => /(?:^|\/)\.git\//.test(at));
const personLines = (tree: Tree): Set<string> =>
  new Set(
    Object.entries(tree).flatMap(([at, text]) => (isFile(at) ? (text.match(/person \d+/g) ?? []) : [])),
  );

/** What git ignores, or does not look into, in the current tree. */
function ignoredIn(root: string, tree: Tree): Set<string> {
  const names = Object.keys(tree).filter(isFile);
  const asked = { cwd: root, input: names.join("\n"), encoding: "utf8" } as const;
  const own = spawnSync("git", ["check-ignore", "--no-index", "--stdin"], asked).stdout.split("\n");
  return new Set([...own, ...names.filter((name) => name.startsWith("pkg/") || name.startsWith("data/"))]);
}

test(
  "random turns, people and undos: an undo and a redo change nothing that the turn did not change",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 7 }), async (steps) => {
        const base = realpathSync(mkdtempSync(join(tmpdir(), "octant-turns-")));
        const root = join(base, "ws");
        try {
          cpSync(template, root, { recursive: true, verbatimSymlinks: true });
          await play(root, join(base, "state"), [
            { calls: [[["echo agent > src/a"], []]] },
            ...steps,
            { direction: "undo" },
          ]);
        } finally {
          rmSync(base, { recursive: true });
        }
      }),
      { numRuns: RUNS },
    );
  },
  RUNS * MAX_RUN_MS,
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function play(root: string, state: string, steps: readonly Step[]): Promise<void> {
  let count = 0;
  const env = { ...process.env, HOME: "/nonexistent", GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@t" };
  const committer = { GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@t" };
  const run = (script: string) =>
    spawnSync("/bin/bash", ["-c", script], { cwd: root, env: { ...env, ...committer, N: String(count++) } });
  const judged: Judged[] = [];
  const everIgnored = new Set<string>();
  const look = (): Tree => {
    const tree = treeOf(root);
    for (const at of ignoredIn(root, tree)) everIgnored.add(at);
    return tree;
  };

  await using opened = openCheckpoints(root, state);
  const { checkpoints, edits } = opened;
  for (const step of steps) {
    if ("edits" in step) {
      for (const edit of step.edits) run(edit.replaceAll("'", '"'));
    } else if ("calls" in step) {
      const calls: { before: Tree; after: Tree }[] = [];
      const open = checkpoints.openTurn("turn", { onBegin: (id) => void judged.push({ id, calls }) });
      for (const [commands, edits] of step.calls) {
        const before = look();
        await checkpoints.during("call", async () => void run(commands.join("\n")));
        calls.push({ before, after: look() });
        for (const edit of edits) run(edit.replaceAll("'", '"'));
      }
      await open.end();
    } else {
      const turns = await checkpoints.turns({ limit: 50 });
      const isUndo = step.direction === "undo";
      const first = turns.findIndex(({ undone }) => !undone);
      const chosen = isUndo ? turns[first] : turns[(first === -1 ? turns.length : first) - 1];
      if (!chosen) continue;
      const before = look();
      const plan = await checkpoints.plan(chosen, step.direction);
      if (plan.changes.length > 0) await edits.apply({ patch: await checkpoints.refFor(plan.changes) });
      await checkpoints.mark(chosen, isUndo);
      const { calls } = judged.find(({ id }) => id === chosen.id) ?? { calls: [] };
      const conflicts = plan.conflicts.map((one) => one.path.slice(root.length + 1));
      judge(calls, { before, after: treeOf(root), conflicts }, isUndo, everIgnored);
    }
  }
}

function judge(
  calls: Judged["calls"],
  { before, after, conflicts }: { before: Tree; after: Tree; conflicts: readonly string[] },
  isUndo: boolean,
  ignored: ReadonlySet<string>,
) {
  expect(inRepository(after), "a repository").toEqual(inRepository(before));
  // A checkout or a removal by the turn itself may bring lines of a person, or take them.
  const brought = calls.flatMap((call) => {
    const [from, to] = isUndo ? [call.after, call.before] : [call.before, call.after];
    return [...personLines(from).difference(personLines(to))];
  });
  const lost = personLines(before).difference(personLines(after)).difference(new Set(brought));
  expect([...lost], "lines of a person").toEqual([]);
  const at = (tree: Tree | undefined, path: string) => tree?.[path];
  const paths = new Set(
    [before, after, ...calls.flatMap((call) => [call.before, call.after])].flatMap((tree) =>
      Object.keys(tree),
    ),
  );
  const [goal, left] = isUndo
    ? [calls.at(0)?.before, calls.at(-1)?.after]
    : [calls.at(-1)?.after, calls.at(0)?.before];
  const isShared = (path: string) => {
    const gaps = calls.slice(1).map((call, index) => [calls[index]?.after[path], call.before[path]]);
    return [...gaps, [at(left, path), before[path]]].some(([a, b]) => a !== b);
  };
  const others = [...paths]
    .filter((path) => isShared(path) || ignored.has(path))
    .map((path) => path.replace(/\/$/, ""));
  // Some of them only follow from others: what lies below them, and copies of a moved file.
  const hasCause = conflicts.some((one) => others.some((path) => isWithin(path, one) || isWithin(one, path)));
  expect(hasCause, `a cause of ${conflicts}`).toBe(conflicts.length > 0);
  for (const path of [...paths].filter((one) => !/(?:^|\/)\.git\//.test(one))) {
    const isTouched = calls.some((call) => call.before[path] !== call.after[path]);
    if (!isTouched) {
      expect(after[path], `${path}, which the turn did not change`).toBe(before[path]);
      continue;
    }
    if (isShared(path)) continue;
    const isEither = after[path] === before[path] || after[path] === at(goal, path);
    expect(isEither, `${path}: ${after[path]}`).toBe(true);
    if (isFile(path) && !ignored.has(path) && !conflicts.includes(path))
      expect(after[path], `${path}, which only the turn changed`).toBe(at(goal, path));
  }
}
