import { basename, extname } from "node:path";
import type { Language } from "../language.ts";
import { c, cpp, csharp, go, java, rust } from "./compiled.ts";
import { css, html, json, yaml } from "./data.ts";
import { bash, javascript, php, python, ruby, tsx, typescript } from "./scripting.ts";

export const LANGUAGES: readonly Language[] = [
  ...[typescript, tsx, javascript, python, go, rust, java, c, cpp, csharp, ruby, php, bash],
  ...[json, yaml, css, html],
];

const BY_NAME: ReadonlyMap<string, Language> = new Map(
  LANGUAGES.flatMap((language) =>
    [...language.extensions, ...(language.filenames ?? [])].map((name) => [name, language] as const),
  ),
);

/** The language of a file, by its name; undefined when unsupported. */
export const languageOf = (path: string): Language | undefined =>
  BY_NAME.get(basename(path)) ?? BY_NAME.get(extname(path).toLowerCase());
