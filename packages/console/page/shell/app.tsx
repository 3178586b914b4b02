import { useEffect, useState } from "preact/hooks";
import { type Page, PageContext } from "../data/context.ts";
import { Empty } from "../parts/empty.tsx";
import { ViewHead } from "../parts/view-head.tsx";
import { Banner } from "./banner.tsx";
import { HelpOverlay } from "./help-overlay.tsx";
import { BottomTabs, Sidebar } from "./navigation.tsx";
import { toHash } from "./route.ts";
import { SignIn } from "./sign-in.tsx";
import type { ThemeSwitch } from "./theme.ts";
import { Toasts } from "./toasts.tsx";
import { VIEWS, viewsFor } from "./views.ts";

interface Props {
  readonly page: Page;
  readonly theme: ThemeSwitch;
  /** False when the link that led here was already used or has expired. */
  readonly isLinkGood: boolean;
}

export function App({ page, theme, isLinkGood }: Props) {
  const { store, router, keys } = page;
  const [help, setHelp] = useState(false);
  const { view } = router.route.value;
  const shown = viewsFor(store.me.value, store.processes.value);
  // The view of a hub says how to start one; the others have nothing to say where they do not belong.
  const known = store.me.value?.hub ? shown : VIEWS;
  const entry = known.find(({ id }) => id === view) ?? shown[0]!;
  // The focus would stay on something of the view before, which goes.
  const jump = (id: string) => {
    router.go(id);
    document.getElementById("main")?.focus();
  };
  useEffect(() => {
    const jumps = shown.map(({ id, title, key }) => [
      `g ${key}`,
      { help: `Go to ${title}`, run: () => jump(id) },
    ]);
    return keys.add({
      ...Object.fromEntries(jumps),
      "/": { help: "Search in this view", run: focusSearch },
      "?": { help: "Show the keys", run: () => setHelp(true) },
      t: { help: "Switch between dark and light", run: theme.toggle },
    });
  }, [shown.map(({ id }) => id).join()]);
  const waiting = store.questions.value.length;
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${entry.title} · Octant`;
  }, [waiting, entry]);
  if (store.connection.value === "signed out")
    return (
      <PageContext.Provider value={page}>
        <SignIn isLinkGood={isLinkGood} />
        <Toasts />
      </PageContext.Provider>
    );
  const View = entry.component;
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Sidebar current={entry.id} theme={theme} onHelp={() => setHelp(true)} />
      <main id="main" class="main" tabIndex={-1}>
        <Banner />
        {entry.id === view ? <View key={entry.id} /> : <UnknownPlace />}
      </main>
      <BottomTabs current={entry.id} theme={theme} />
      {help && <HelpOverlay onClose={() => setHelp(false)} />}
      <Toasts />
    </PageContext.Provider>
  );
}

function UnknownPlace() {
  return (
    <>
      <ViewHead title="Nothing here" />
      <Empty icon="search" title="This address leads nowhere">
        The link may be of another version.{" "}
        <a class="button" href={toHash("now")}>
          Go to Now
        </a>
      </Empty>
    </>
  );
}

/** The address after # belongs to the views, so the link only moves the focus. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("main [data-search]");
  field?.focus();
  field?.select();
}
