import { counted } from "@octant/core";

const MAX_NAMES = 20;
const MAX_SUBJECT_CHARS = 72;

/** Stages everything in a workspace; prints how many files that are, and the first of them. An image has sh and git. */
export const STAGE_ALL = `git add -A && git diff --cached --no-renames --name-only | {
  count=0
  while IFS= read -r name; do
    count=$((count + 1))
    [ $count -gt ${MAX_NAMES} ] || printf '%s\\n' "$name"
  done
  echo $count
}`;

/**
 * The commit message for work that a session did not commit: its files, as far as the subject has room. undefined when
 * there is none.
 */
export function describeLeftOver(staged: string, session_id: string): string | undefined {
  const names = staged.trimEnd().split("\n");
  const count = Number(names.pop());
  if (!(count > 0)) return undefined;
  let subject = `Uncommitted work: ${counted(count, "file")}`;
  for (let shown = 1; shown <= names.length; shown += 1) {
    const others = count > shown ? [counted(count - shown, "other file")] : [];
    const longer = `Uncommitted work: ${[...names.slice(0, shown), ...others].join(", ")}`;
    if (longer.length > MAX_SUBJECT_CHARS) break;
    subject = longer;
  }
  return `${subject}\n\nSession ${session_id} ended a run without committing it.`;
}
