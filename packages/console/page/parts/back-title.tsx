import type { ComponentChildren } from "preact";
import { Foreign } from "../text/foreign.tsx";
import { Icon } from "./icon.tsx";

/** The title of a detail view; on a phone with the way back to its list. */
export function BackTitle({
  list,
  text,
  command = false,
  children,
}: {
  readonly list: string;
  readonly text: string;
  /** Shown in full, in the font of code. */
  readonly command?: boolean;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="session-title">
      <a class="button icon-only quiet phone-only" href={list} aria-label="Back to the list">
        <Icon name="back" />
      </a>
      <h2 class={command ? "mono command-title" : undefined}>
        <Foreign text={text} oneLine={!command} />
      </h2>
      {children}
    </div>
  );
}
