const UNRELEASED = "## [Unreleased]";

/** Moves the entries of the Unreleased section to a section of the version. */
export function releaseChangelog(text: string, version: string, date: string): string {
  const at = text.indexOf(`${UNRELEASED}\n`);
  if (at < 0) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  const start = at + UNRELEASED.length;
  const end = text.indexOf("\n## ", start);
  const entries = text.slice(start, end < 0 ? undefined : end);
  if (!/^- /m.test(entries)) throw new Error("the Unreleased section of CHANGELOG.md has no entries");
  return `${text.slice(0, start)}\n\n## [${version}] - ${date}${text.slice(start)}`;
}
