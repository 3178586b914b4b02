import { useState } from "preact/hooks";
import { usePage } from "../data/context.ts";
import { isInRoster } from "../data/roster.ts";
import { Dot } from "../parts/badge.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { counted } from "../text/format.ts";
import { toHash } from "./route.ts";
import type { ThemeSwitch } from "./theme.ts";
import { TABS, type ViewEntry, viewsFor } from "./views.ts";

interface Props {
  readonly current: string;
  readonly theme: ThemeSwitch;
}

export function Sidebar({ current, theme, onHelp }: Props & { onHelp(): void }) {
  const { store } = usePage();
  return (
    <div class="sidebar">
      <a class="brand" href={toHash("now")}>
        <Mark />
        <span>Octant</span>
      </a>
      <nav aria-label="Views">
        {viewsFor(store.me.value, store.processes.value).map((view) => (
          <NavLink key={view.id} view={view} isCurrent={view.id === current} />
        ))}
      </nav>
      <div class="sidebar-foot">
        <ConnectionLine />
        <div class="sidebar-buttons">
          <ThemeButton theme={theme} />
          <button
            type="button"
            class="button icon-only quiet"
            aria-label="Keys"
            title="Keys (?)"
            onClick={onHelp}
          >
            <Icon name="help" />
          </button>
          <span class="version">{store.me.value?.version}</span>
        </div>
      </div>
    </div>
  );
}

function NavLink({
  view: { id, title, key },
  isCurrent,
}: {
  readonly view: ViewEntry;
  readonly isCurrent: boolean;
}) {
  const count = useCount(id);
  return (
    <a
      class="nav-link"
      href={toHash(id)}
      aria-current={isCurrent ? "page" : undefined}
      title={`${title} (g ${key})`}
    >
      <Icon name={id} />
      <span>{title}</span>
      {count > 0 && <Count count={count} />}
    </a>
  );
}

function Count({ count }: { readonly count: number }) {
  return (
    <span class="count">
      {count}
      <span class="unseen"> waiting</span>
    </span>
  );
}

const useCount = (id: string): number => {
  const { store } = usePage();
  return id === "approvals" ? store.questions.value.length : 0;
};

export function BottomTabs({ current, theme }: Props) {
  const [more, setMore] = useState(false);
  const { store } = usePage();
  const shown = viewsFor(store.me.value, store.processes.value);
  // A hub elsewhere has a console of its own.
  const hasTab = ({ id, of }: ViewEntry) =>
    TABS.includes(id) && (of !== "hub" || store.me.value?.hub === true);
  const tabs = shown.filter(hasTab);
  const others = shown.filter((view) => !hasTab(view));
  return (
    <nav class="bottom-tabs" aria-label="Views">
      {tabs.map((view) => (
        <NavLink key={view.id} view={view} isCurrent={view.id === current} />
      ))}
      <button
        type="button"
        class="nav-link"
        aria-haspopup="dialog"
        aria-current={others.some(({ id }) => id === current) ? "page" : undefined}
        onClick={() => setMore(true)}
      >
        <Icon name="more" />
        <span>More</span>
      </button>
      {more && (
        <Dialog title="More" onClose={() => setMore(false)}>
          <div class="more-links">
            {others.map((view) => (
              <a key={view.id} class="nav-link" href={toHash(view.id)} onClick={() => setMore(false)}>
                <Icon name={view.id} />
                <span>{view.title}</span>
              </a>
            ))}
            <ThemeButton theme={theme} labelled />
            <ConnectionLine />
          </div>
        </Dialog>
      )}
    </nav>
  );
}

function ThemeButton({ theme, labelled }: { readonly theme: ThemeSwitch; readonly labelled?: boolean }) {
  const isDark = theme.theme.value === "dark";
  const label = isDark ? "Use the light theme" : "Use the dark theme";
  return (
    <button
      type="button"
      class={labelled ? "nav-link" : "button icon-only quiet"}
      aria-label={label}
      title={`${label} (t)`}
      onClick={theme.toggle}
    >
      <Icon name={isDark ? "sun" : "moon"} />
      {labelled && <span>{label}</span>}
    </button>
  );
}

function ConnectionLine() {
  const { store } = usePage();
  // Each session of a process has a socket of its own. A console by itself is not in the roster either.
  const count = new Set((store.processes.value ?? []).filter(isInRoster).map(({ pid }) => pid)).size;
  const isLive = store.connection.value === "live";
  return (
    <p class="connection">
      <Dot tone={isLive ? "good" : "warn"} />
      {isLive ? (count === 0 ? "Connected" : counted(count, "process", "processes")) : "Reconnecting"}
    </p>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="20" height="20" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M16 7a9 9 0 1 0 9 9M16 16l7-7" />
    </svg>
  );
}
