import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toForms } from "../../src/redact/forms.ts";

export interface CanaryFound {
  readonly file: string;
  readonly offset: number;
  readonly canary: string;
}

/** The places where planted secrets occur, plain or encoded, in these files and all files of these folders. */
export const findCanaries = (paths: readonly string[], canaries: readonly string[]): CanaryFound[] =>
  paths.flatMap(filesOf).flatMap((file) => {
    const bytes = readFileSync(file);
    return canaries.flatMap((canary) => {
      const offsets = toForms(canary).map((form) => bytes.indexOf(form));
      const offset = offsets.filter((at) => at >= 0).sort((a, b) => a - b)[0];
      return offset === undefined ? [] : [{ file, offset, canary }];
    });
  });

function filesOf(path: string): string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return [path];
  return stat?.isDirectory() ? readdirSync(path).flatMap((name) => filesOf(join(path, name))) : [];
}
