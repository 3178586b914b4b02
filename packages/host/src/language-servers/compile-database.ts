import { existsSync } from "node:fs";
import { splitPath } from "../confinement.ts";
import { type Path, toNative } from "../path.ts";

/** The files in which clangd looks for compiler flags, in the folder of a source file and in those above it. */
const DATABASES = [
  "compile_commands.json",
  "build/compile_commands.json",
  "compile_flags.txt",
  ".clangd",
] as const;

/** How each build system writes compile_commands.json. */
const BUILDS: readonly (readonly [file: string, command: string])[] = [
  ["CMakeLists.txt", "cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON"],
  ["meson.build", "meson setup build"],
  ["Makefile", "bear -- make"],
];

/** The problem of a file without a compile database, and how to create one; undefined when there is one. */
export function lacksCompileDatabase(path: Path, root: Path): string | undefined {
  for (let folder = splitPath(path).parent; ; folder = splitPath(folder).parent) {
    if (DATABASES.some((name) => exists(folder, name))) return undefined;
    if (folder === root || folder === "/") break;
  }
  const known = BUILDS.filter(([file]) => exists(root, file));
  const how = (known.length > 0 ? known : BUILDS).map(([, command]) => `\`${command}\``).join(" or ");
  return `there is no compile_commands.json, so clangd knows neither include paths nor the other files; ${how} makes one`;
}

const exists = (folder: Path, name: string): boolean => existsSync(toNative(`${folder}/${name}`));
