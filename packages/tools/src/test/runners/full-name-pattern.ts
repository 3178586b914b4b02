import { escapePattern, type KnownTest } from "../runner.ts";

/** The separator between suite and test names: a space, or ` > ` in newer versions of Vitest. */
const BETWEEN = "(?: > | )";

/** A pattern for exactly these tests, for runners that match the names of suites and test together. */
export const fullNamePattern = (tests: readonly KnownTest[]): string =>
  `(?:${tests.map(({ suite, name }) => [...suite, name].map(escapePattern).join(BETWEEN)).join("|")})$`;

/** The files of the tests, without duplicates. */
export const filesOf = (tests: readonly KnownTest[]): string[] => [
  ...new Set(tests.flatMap(({ file }) => (file === undefined ? [] : [file]))),
];
