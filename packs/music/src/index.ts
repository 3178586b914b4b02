import type { PackContext, Tool } from "@octant/core";
import { abc } from "./abc/index.ts";
import { audio } from "./audio/index.ts";
import { garden } from "./garden/index.ts";
import { createGardenProcess } from "./garden/process.ts";
import { createLibrary } from "./library/library.ts";
import { models } from "./models/index.ts";
import type { Settings } from "./settings.ts";
import { createSoundfonts, soundfont } from "./soundfont/index.ts";

export { settings } from "./settings.ts";

export function tools(context: PackContext<Settings>): readonly Tool[] {
  const library = createLibrary(context);
  const soundfonts = createSoundfonts(library, context.settings.soundfont);
  const process = createGardenProcess(context.folder);
  context.onClose(process.close);
  return [
    abc(library),
    soundfont(soundfonts),
    audio(library, soundfonts),
    ...models(library, context.settings),
    garden(library, process),
  ];
}
