/** The frameworks among a package's dependencies. A key that ends in `/` or `.` is a prefix. */
export function frameworksAmong(
  dependencies: Iterable<string>,
  table: Readonly<Record<string, string>>,
): string[] {
  const prefixes = Object.entries(table).filter(([key]) => /[/.]$/.test(key));
  const found = new Set<string>();
  for (const dependency of dependencies) {
    const exact = Object.hasOwn(table, dependency) ? table[dependency] : undefined;
    const framework = exact ?? prefixes.find(([prefix]) => dependency.startsWith(prefix))?.[1];
    if (framework !== undefined) found.add(framework);
  }
  return [...found].sort();
}

/** A table of frameworks that have the name of their package. */
export const namedAlike = (names: string): Record<string, string> =>
  Object.fromEntries(names.split(" ").map((name) => [name, name]));
