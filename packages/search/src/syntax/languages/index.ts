import { basename, extname } from "node:path";
import type { Language } from "../language.ts";
import { bash } from "./bash.ts";
import { c, cpp } from "./c.ts";
import { csharp } from "./csharp.ts";
import { css, html, json, yaml } from "./data.ts";
import { go } from "./go.ts";
import { java } from "./java.ts";
import { php } from "./php.ts";
import { python } from "./python.ts";
import { ruby } from "./ruby.ts";
import { rust } from "./rust.ts";
import { javascript, tsx, typescript } from "./typescript.ts";

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
