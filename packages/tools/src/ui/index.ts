import { defineTool } from "@octant/core";
import type { UiOptions } from "./acting.ts";
import { console } from "./console.ts";
import { emulate } from "./emulate.ts";
import { evaluate } from "./evaluate.ts";
import { fill, select, upload } from "./forms.ts";
import { focus, press, type } from "./keyboard.ts";
import { navigate } from "./navigate.ts";
import { pdf, screenshot } from "./pictures.ts";
import { click, drag, hover, scroll } from "./pointer.ts";
import { type Recordings, record, session, stop } from "./recordings.ts";
import { route } from "./route.ts";
import { snapshot } from "./snapshot.ts";
import { dialog, download, tabs } from "./tabs.ts";
import { storage, trace } from "./trace-and-storage.ts";
import { wait } from "./wait.ts";
import { windows } from "./windows.ts";

export type { UiOptions } from "./acting.ts";

/** Pages in a browser, and the desktop. */
export const ui = (options: UiOptions) => {
  const recordings: Recordings = new Map();
  return defineTool({
    name: "ui",
    listing: "brief",
    summary: "Browser pages and the desktop.",
    actions: {
      navigate: navigate(options),
      snapshot: snapshot(options),
      click: click(options),
      type: type(options),
      fill: fill(options),
      press: press(options),
      hover: hover(options),
      drag: drag(options),
      select: select(options),
      upload: upload(options),
      download: download(options),
      scroll: scroll(options),
      wait: wait(options),
      evaluate: evaluate(options),
      screenshot: screenshot(options),
      pdf: pdf(options),
      tabs: tabs(options),
      dialog: dialog(options),
      focus: focus(options),
      windows: windows(options),
      emulate: emulate(options),
      route: route(options),
      console: console(options),
      trace: trace(options),
      storage: storage(options),
      record: record(options, recordings),
      stop: stop(options, recordings),
      session: session(options),
    },
    backends: async () => [await options.browsers.backend(), options.screen.backend()],
  });
};
