import { join } from "node:path";
import { parseSettings } from "./parse-settings.ts";
import { type Person, userFile, userFolder } from "./places.ts";
import { readSettingsFile } from "./read-file.ts";
import { type Settings, settingsSchema } from "./schema.ts";

const NAME = "models.json";

/** The person's facts about models: the key `models` of a file beside their settings, which may be generated. */
export function loadModels(person: Person): NonNullable<Settings["models"]> {
  const { path, shown } = userFile(userFolder(person));
  const file = { path: join(path, "..", NAME), shown: join(shown, "..", NAME) };
  const found = readSettingsFile(file);
  return found
    ? (parseSettings(found.text, file, settingsSchema().pick({ models: true })).settings.models ?? {})
    : {};
}
