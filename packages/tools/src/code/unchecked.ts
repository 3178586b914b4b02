import { dirname, join } from "node:path/posix";
import { ToolError } from "@octant/core";
import { type Confinement, type Path, readSourceText } from "@octant/host";

const SCRIPT = /\.[cm]?[jt]sx?$/;
const PLAIN_SCRIPT = /\.[cm]?jsx?$/;
const CONFIGS = ["tsconfig.json", "jsconfig.json"] as const;
const MAX_EXTENDS = 5;

/** Why TypeScript checks only the syntax of a file; undefined when it checks types and names too. */
export function whyUnchecked(confinement: Confinement, path: Path): string | undefined {
  if (!SCRIPT.test(path)) return undefined;
  const read = (file: Path) => textOf(confinement, file);
  const mark = /^\s*\/\/\s*@ts-(nocheck|check)\b/m.exec(read(path) ?? "")?.[1];
  if (mark === "nocheck") return "the file contains @ts-nocheck";
  if (mark === "check" || !PLAIN_SCRIPT.test(path)) return undefined;
  const isChecked = (config: Path, left = MAX_EXTENDS): boolean => {
    const text = read(config) ?? "";
    const own = /"checkJs"\s*:\s*(true|false)/.exec(text)?.[1];
    const base = /"extends"\s*:\s*"(\.[^"]*)"/.exec(text)?.[1];
    if (own !== undefined || base === undefined || left === 0) return own === "true";
    const file = join(dirname(config), base);
    return isChecked(file.endsWith(".json") ? file : `${file}.json`, left - 1);
  };
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const config = CONFIGS.map((name) => join(folder, name)).find((file) => read(file) !== undefined);
    if (config !== undefined && isChecked(config)) return undefined;
    if (config !== undefined || folder === "/" || confinement.roots.includes(folder))
      return "TypeScript checks plain JavaScript only with // @ts-check in the file or checkJs in tsconfig.json or jsconfig.json";
  }
}

function textOf(confinement: Confinement, file: Path): string | undefined {
  try {
    return readSourceText(confinement, file).text;
  } catch (cause) {
    if (cause instanceof ToolError) return undefined;
    throw cause;
  }
}
