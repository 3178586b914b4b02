/** What a key does, and its line in the help. */
export interface KeyAction {
  readonly help?: string;
  run(): void;
}

export type KeyMap = Readonly<Record<string, KeyAction>>;

export interface Keys {
  /** Adds keys until the returned function is called; later ones win. */
  add(map: KeyMap): () => void;
  /** All that work now, for the help. */
  list(): readonly (readonly [string, string])[];
}

const CHORD_MS = 1_200;

/**
 * Keys of the whole page. `g n` is two keys in a row; keys in fields belong to the fields, except Escape, and those
 * pressed while a dialog is open to the dialog.
 */
export function listenToKeys(): Keys {
  const maps: KeyMap[] = [];
  let first = "";
  let pressedAt = 0;
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    const isField =
      event.target instanceof Element && event.target.closest("input, textarea, select, [data-keys]");
    if (isField && event.key !== "Escape") return;
    // The first Escape leaves the field; the next one is the view's.
    if (isField && event.target instanceof HTMLElement && event.target.matches("input, textarea, select"))
      return event.target.blur();
    const isChord = first !== "" && event.timeStamp - pressedAt < CHORD_MS;
    const name = isChord ? `${first} ${event.key}` : event.key;
    const action = maps.findLast((map) => map[name])?.[name];
    first = "";
    if (action) {
      // Enter on a button or a link is that button's.
      if (
        event.key === "Enter" &&
        event.target instanceof Element &&
        event.target.closest("button, a, summary")
      )
        return;
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
