// Questions about names: where something is defined, and who calls it.
import { isCallable, type QuestionSet, type Source } from "./questions.ts";

export interface DefinitionQuestion {
  readonly name: string;
  readonly answer: string;
}

export interface CallerQuestion {
  readonly name: string;
  /** `path#Outer.inner` of everything that calls it. */
  readonly answers: ReadonlySet<string>;
}

const MIN_NAME_CHARS = 4;

/** Names that are defined once: only then is there one answer. */
export function definitionQuestions({ sources }: QuestionSet, limit: number): DefinitionQuestion[] {
  const answers = new Map<string, string[]>();
  for (const { path, symbols } of sources)
    for (const { name, path: symbol } of symbols) {
      const key = name.toLowerCase();
      answers.set(key, [...(answers.get(key) ?? []), `${path}#${symbol}`]);
    }
  const once = sources.flatMap(({ symbols }) =>
    symbols
      .filter((symbol) => isCallable(symbol) || symbol.kind === "class" || symbol.kind === "struct")
      .filter(({ name }) => isPlain(name) && answers.get(name.toLowerCase())?.length === 1),
  );
  return evenly(once, limit).flatMap(({ name }) => {
    const [answer] = answers.get(name.toLowerCase()) ?? [];
    return answer ? [{ name, answer }] : [];
  });
}

/**
 * Who calls the name, told without the grammar's queries: where it stands with a bracket behind it, outside of
 * comments and strings, and is not being defined.
 */
export function callerQuestions(set: QuestionSet, limit: number): CallerQuestion[] {
  const code = new Map(set.sources.map((source) => [source.path, withoutWords(source)]));
  return definitionQuestions(set, limit * 4)
    .map(({ name, answer }) => {
      const call = new RegExp(`(?<![\\w$])${name}\\s*\\(`, "g");
      const answers = set.sources.flatMap(({ path, symbols }) =>
        [...(code.get(path) ?? "").matchAll(call)].flatMap(({ index }) => {
          const around = symbols.findLast(({ start, end }) => start <= index && index < end);
          const where = `${path}#${around?.path ?? ""}`;
          // Its own head looks like a call; so does a call of itself, which is left out with it.
          return where === answer ? [] : [where];
        }),
      );
      return { name, answers: new Set(answers) };
    })
    .filter(({ answers }) => answers.size > 0)
    .slice(0, limit);
}

const isPlain = (name: string) => name.length >= MIN_NAME_CHARS && /^[A-Za-z_]\w*$/.test(name);

/** Blanks instead of strings and comments, near enough for all three languages. */
const withoutWords = ({ path, text }: Source) => {
  const comment = path.endsWith(".py") ? "#.*" : "\\/\\/.*|\\/\\*[\\s\\S]*?\\*\\/";
  const words = new RegExp(
    `"""[\\s\\S]*?"""|'''[\\s\\S]*?'''|"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`[^\`]*\`|${comment}`,
    "g",
  );
  return text.replace(words, (found) => found.replace(/[^\n]/g, " "));
};

/** So many of them, from all parts of the list. */
export function evenly<T>(items: readonly T[], limit: number): T[] {
  const step = Math.max(1, items.length / limit);
  return Array.from(
    { length: Math.min(limit, items.length) },
    (_, at) => items[Math.floor(at * step)],
  ).filter((item) => item !== undefined);
}
