import { basename, extname } from "node:path";

/** The language of a file for a language server. */
export interface FileLanguage {
  /** Whose server it needs, by the name that settings use too. */
  readonly language: string;
  /** Its name in the protocol. */
  readonly languageId: string;
}

/** By extension, without the dot: the language, and its protocol id where that differs. */
const LANGUAGES: Readonly<Record<string, readonly [language: string, languageId?: string]>> = {
  ts: ["typescript"],
  mts: ["typescript"],
  cts: ["typescript"],
  tsx: ["typescript", "typescriptreact"],
  js: ["typescript", "javascript"],
  mjs: ["typescript", "javascript"],
  cjs: ["typescript", "javascript"],
  jsx: ["typescript", "javascriptreact"],
  py: ["python"],
  pyi: ["python"],
  go: ["go"],
  rs: ["rust"],
  java: ["java"],
  c: ["cpp", "c"],
  h: ["cpp"],
  cc: ["cpp"],
  cpp: ["cpp"],
  cxx: ["cpp"],
  hh: ["cpp"],
  hpp: ["cpp"],
  hxx: ["cpp"],
  cs: ["csharp"],
  rb: ["ruby"],
  kt: ["kotlin"],
  kts: ["kotlin"],
  ex: ["elixir"],
  exs: ["elixir"],
  hs: ["haskell"],
  ml: ["ocaml"],
  mli: ["ocaml", "ocaml.interface"],
  sh: ["bash", "shellscript"],
  bash: ["bash", "shellscript"],
  yml: ["yaml"],
  md: ["markdown"],
  tf: ["terraform"],
};

/** Any other extension is its own language: a server configured for `zig` gets `.zig` files. */
export function fileLanguageOf(path: string): FileLanguage | undefined {
  const extension = extname(basename(path)).slice(1).toLowerCase();
  if (extension === "") return undefined;
  const [language, languageId = language] = Object.hasOwn(LANGUAGES, extension)
    ? LANGUAGES[extension]!
    : [extension];
  return { language, languageId };
}
