/** Parameters that best describe a call, most significant first. */
const SUBJECTS = [
  "uri",
  "path",
  "command",
  "pattern",
  "query",
  "url",
  "symbol_id",
  "message",
  "task",
  "ref",
  "name",
  "proc_id",
  "job_id",
];
/** The names of the files in a patch, in the formats that `fs.apply_patch` takes. */
const PATCHED = /^(?:\+\+\+ (?:b\/)?|\*\*\* (?:Add|Update|Delete) File: )(?!\/dev\/null)([^\t\n]+)/gm;

/** The subject of a call, from its arguments: a path, a command, a query. Empty when no argument names one. */
export function subjectOf(input: unknown, first: readonly string[] = []): string {
  const fields: Readonly<Record<string, unknown>> = Object(input);
  for (const name of [...first, ...SUBJECTS]) {
    const words = toWords(fields[name]);
    if (words !== "") return words;
  }
  const { files, patch } = fields;
  if (Array.isArray(files)) return toWords(files.map((file) => Object(file).uri ?? file));
  if (typeof patch !== "string") return "";
  return [...new Set(Array.from(patch.matchAll(PATCHED), ([, path]) => path))].join(" ");
}

function toWords(value: unknown): string {
  if (Array.isArray(value)) return value.filter((word) => typeof word === "string").join(" ");
  return typeof value === "string" ? value : "";
}
