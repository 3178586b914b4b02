import { type ReadonlySignal, signal } from "@preact/signals";

export type Theme = "light" | "dark";

export interface ThemeSwitch {
  readonly theme: ReadonlySignal<Theme>;
  toggle(): void;
}

const KEY = "octant-theme";

/** Follows the system until the person chooses. */
export function createTheme(): ThemeSwitch {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = localStorage.getItem(KEY);
  const ofSystem = (): Theme => (dark.matches ? "dark" : "light");
  const theme = signal<Theme>(chosen === "dark" || chosen === "light" ? chosen : ofSystem());
  const apply = (value: Theme) => {
    theme.value = value;
    document.documentElement.dataset["theme"] = value;
  };
  dark.addEventListener("change", () => {
    if (!localStorage.getItem(KEY)) apply(ofSystem());
  });
  apply(theme.value);
  return {
    theme,
    toggle() {
      const next = theme.value === "dark" ? "light" : "dark";
      // The system's own theme can no longer be chosen.
      if (next === ofSystem()) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, next);
      apply(next);
    },
  };
}
