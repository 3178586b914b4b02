/** How languages separate a name from its container. */
const SEPARATOR = /\.|::|#|->/;

/** The parts of a name as it is written in a question: `Outer::inner`, `Outer#inner`. */
export const partsOf = (name: string): string[] => name.split(SEPARATOR);

/** The name itself, without its container. */
export const lastPart = (name: string): string => partsOf(name).at(-1) || name;

/** Duplicates of one path are numbered; a question has the name without the number. */
export const withoutNumber = (path: string): string => path.replace(/~\d+/g, "");

/** The own name of the symbol with this path. */
export const ownName = (path: string | null): string =>
  withoutNumber(path ?? "")
    .split(".")
    .at(-1) ?? "";
