/** The effect of a key, and its line in the help. */
export interface KeyAction {
  readonly help?: string;
  run(): void;
}

export type KeyMap = Readonly<Record<string, KeyAction>>;

export interface Keys {
  /** Adds keys until the returned function is called; later ones win. */
  add(map: KeyMap): () => void;
  /** The keys that work now, for the help. */
  list(): readonly (readonly [string, string])[];
}

const CHORD_MS = 1_200;
const PRESSES: ReadonlySet<string> = new Set(["Enter", " "]);

/**
 * Keys of the whole page. `g n` is two keys in a row. Keys in fields belong to the fields, and Escape leaves a field;
 * keys pressed while a dialog is open belong to the dialog.
 */
export function listenToKeys(): Keys {
  const maps: KeyMap[] = [];
  let first = "";
  let pressedAt = 0;
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const target = event.target instanceof Element ? event.target : undefined;
    const field = target?.closest<HTMLElement>("input, textarea, select");
    if (field && event.key === "Escape") {
      event.preventDefault();
      field.blur();
    }
    if (field || (target?.closest("[data-keys]") && event.key !== "Escape")) return;
    const isChord = first !== "" && event.timeStamp - pressedAt < CHORD_MS;
    const name = isChord ? `${first} ${event.key}` : event.key;
    const action = maps.findLast((map) => map[name])?.[name];
    first = "";
    if (action) {
      // Enter and Space on a button are that button's, and Enter on a link.
      if (PRESSES.has(event.key) && target?.closest("button, a, summary")) return;
      event.preventDefault();
      action.run();
    } else if (maps.some((map) => Object.keys(map).some((key) => key.startsWith(`${event.key} `)))) {
      first = event.key;
      pressedAt = event.timeStamp;
    }
  });
  return {
    add(map) {
      maps.push(map);
      return () => {
        maps.splice(maps.indexOf(map), 1);
      };
    },
    list() {
      const found = new Map<string, string>();
      for (const map of maps)
        for (const [key, { help }] of Object.entries(map)) if (help) found.set(key, help);
      return [...found];
    },
  };
}
