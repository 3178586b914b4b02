import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Case, callCase, expectEqual } from "../case.ts";
import { atMost } from "../row.ts";

const FILES = 10_000;
const FILES_PER_FOLDER = 50;
const CHANGED_FILES = 20;

const status = callCase({
  name: "vcs.status",
  bar: atMost(2),
  note: `floor: git status, all its output read; ${FILES} files, ${CHANGED_FILES} of them changed`,
  tool: "vcs",
  toArguments: ({ scratchFolder }) => ({ action: "status", repo: scratchFolder }),
  direct: ({ root, scratchFolder }) => gitStatus(join(root, scratchFolder)),
  check: ({ entries }) => expectEqual(entries.length, CHANGED_FILES, "entries"),
});

export const vcs: readonly Case[] = [
  {
    ...status,
    async run(bench) {
      const folder = join(bench.tree.root, bench.tree.scratchFolder);
      growRepository(folder);
      try {
        return await status.run(bench);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  },
];

function growRepository(folder: string): void {
  const pathOf = (n: number) => join(folder, `part-${Math.floor(n / FILES_PER_FOLDER)}`, `file-${n}.txt`);
  for (let n = 0; n < FILES; n++) {
    if (n % FILES_PER_FOLDER === 0) mkdirSync(join(pathOf(n), ".."));
    writeFileSync(pathOf(n), `file ${n}\n`);
  }
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder });
  git("init", "--quiet");
  git("add", ".");
  git("-c", "user.name=Bench", "-c", "user.email=bench@example.org", "commit", "--quiet", "--message=all");
  for (let n = 0; n < CHANGED_FILES; n++) appendFileSync(pathOf(n * (FILES / CHANGED_FILES)), "changed\n");
}

/** As a person would run it in the folder. */
async function gitStatus(folder: string): Promise<number> {
  const child = spawn("git", ["status"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`git ended with ${code}`))));
  });
  return bytes;
}
