import type { Survey } from "./survey.ts";

/** The languages of a project by number of files, with their share between 0 and 1; data and prose do not count. */
export function languagesOf({ folders }: Survey) {
  const counts = new Map<string, number>();
  for (const { files } of folders) {
    for (const file of files) {
      const name = LANGUAGES.get(file.slice(file.lastIndexOf(".") + 1).toLowerCase());
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  giveHeadersTo(counts);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return [...counts]
    .map(([name, files]) => ({ name, files, share: Math.round((files / total) * 1_000) / 1_000 }))
    .sort((a, b) => b.files - a.files || (a.name < b.name ? -1 : 1));
}

const HEADERS = "C header";

/** A `.h` file counts as the language of most other sources. */
function giveHeadersTo(counts: Map<string, number>): void {
  const headers = counts.get(HEADERS) ?? 0;
  counts.delete(HEADERS);
  if (headers === 0) return;
  const [owner] = ["C", "C++", "Objective-C"].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  counts.set(owner as string, (counts.get(owner as string) ?? 0) + headers);
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  Assembly: "asm s",
  Astro: "astro",
  C: "c",
  [HEADERS]: "h",
  "C#": "cs csx",
  "C++": "cc cpp cxx hh hpp hxx",
  Clojure: "clj cljc cljs",
  CSS: "css less sass scss",
  CUDA: "cu cuh",
  Dart: "dart",
  Elixir: "ex exs",
  Erlang: "erl hrl",
  "F#": "fs fsi fsx",
  Fortran: "f90 f95",
  Go: "go",
  GraphQL: "gql graphql",
  Groovy: "gradle groovy",
  Haskell: "hs",
  HTML: "htm html",
  Java: "java",
  JavaScript: "cjs js jsx mjs",
  Julia: "jl",
  Kotlin: "kt kts",
  Lua: "lua",
  Nim: "nim",
  "Objective-C": "m mm",
  OCaml: "ml mli",
  Perl: "pl pm",
  PHP: "php",
  PowerShell: "ps1 psm1",
  Protobuf: "proto",
  Python: "py pyi pyw",
  R: "r",
  Ruby: "erb rake rb",
  Rust: "rs",
  Scala: "sbt scala",
  Shell: "bash fish sh zsh",
  Solidity: "sol",
  SQL: "sql",
  Svelte: "svelte",
  Swift: "swift",
  Terraform: "tf",
  TypeScript: "cts mts ts tsx",
  "Visual Basic": "vb",
  Vue: "vue",
  Zig: "zig",
};

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries(EXTENSIONS).flatMap(([name, list]) => list.split(" ").map((extension) => [extension, name])),
);
