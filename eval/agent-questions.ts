// Typical questions of agents, with locations looked up by hand, on unmodified checkouts.
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { searchSources } from "./searched.ts";

interface AgentQuestion {
  readonly repository: string;
  readonly text: string;
  /** `path#Outer.inner`, or a path. */
  readonly places: readonly string[];
}

const LOOKED_AT = 3;
const MAX_FILE_BYTES = 1024 * 1024;

export async function askAgentQuestions(folder: string): Promise<void> {
  const questions = readQuestions(join(import.meta.dirname, "agent-questions.txt"));
  let right = 0;
  for (const repository of new Set(questions.map((question) => question.repository))) {
    const searched = await searchSources(sourcesIn(join(folder, repository)));
    try {
      for (const { text, places } of questions.filter((question) => question.repository === repository)) {
        const listed = (await searched.search(text, "auto", LOOKED_AT)).map(({ path, symbol }) =>
          symbol === null ? path : `${path}#${symbol.replace(/~\d+/g, "")}`,
        );
        if (listed.some((place) => places.includes(place))) right++;
        else console.log(`missed: ${repository}: ${text}\n  ${listed.join("\n  ")}`);
      }
    } finally {
      await searched.close();
    }
  }
  console.log(`${right} of ${questions.length} agent questions have a right answer among the first three`);
}

function readQuestions(file: string): AgentQuestion[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [repository = "", text = "", places = ""] = line.split(" | ");
      return { repository, text, places: places.split(", ") };
    });
}

export function sourcesIn(checkout: string) {
  return globSync("**/*", { cwd: checkout, exclude: (name) => /(?:^|\/)\.git$/.test(name) })
    .sort()
    .flatMap((path) => {
      const stat = statSync(join(checkout, path), { throwIfNoEntry: false });
      if (!stat?.isFile() || stat.size > MAX_FILE_BYTES) return [];
      const bytes = readFileSync(join(checkout, path));
      return bytes.includes(0) ? [] : [{ path, text: bytes.toString("utf8") }];
    });
}
