import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { createLock, replaceFile } from "@octant/host";
import { insertInto, parseObject, splice } from "./edit-jsonc.ts";
import { parseSettings } from "./parse-settings.ts";
import { type Person, userFile, userFolder } from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import type { Settings } from "./schema.ts";
import { toWriteError } from "./write-error.ts";

/** Sets values in the person's own settings; comments and layout stay. */
export const setUserSettings = (values: Settings, person: Person): Promise<void> =>
  changeUserSettings(person, (text) =>
    Object.entries(values).reduce((changed, [key, value]) => withValue(changed, key, value), text),
  );

function withValue(text: string, key: string, value: unknown): string {
  const root = parseObject(text);
  const json = JSON.stringify(value);
  const entry = root.entries.get(key);
  if (entry) return splice(text, entry.value.start, entry.value.end, json);
  return insertInto(text, root, root.entries.size, `${JSON.stringify(key)}: ${json}`);
}

/** Changes the text of the person's own settings while no other process can. */
export async function changeUserSettings(
  person: Person,
  change: (text: string, uri: string) => string,
): Promise<void> {
  const folder = userFolder(person);
  const file = userFile(folder);
  try {
    mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
    const where = { doing: "writing settings", place: "the folder of your settings" };
    const lock = createLock(join(folder.path, "settings.lock"), where);
    await lock
      .hold(() => {
        const found = readSettingsFile(file);
        const text = found?.text ?? "{}\n";
        parseSettings(text, file);
        const changed = change(text, pathToFileURL(file.path).href);
        // Validated first, so that an unreadable file is never written.
        parseSettings(changed, file);
        replaceFile(file.path, changed, { mode: found ? found.stat.mode & 0o777 : 0o600 });
      })
      .finally(lock.close);
  } catch (cause) {
    throw toWriteError(cause);
  }
}
