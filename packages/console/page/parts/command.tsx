import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { usePage } from "../data/context.ts";
import { Foreign } from "../text/foreign.tsx";
import { Icon } from "./icon.tsx";

/** A line for a terminal, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>
        <Foreign text={text} />
      </code>
      <CopyButton text={text} label="Copy the command" />
    </div>
  );
}

const COPIED_MS = 1_500;

export function CopyButton({
  text,
  label,
  children,
}: {
  readonly text: string;
  readonly label: string;
  readonly children?: ComponentChildren;
}) {
  const { store } = usePage();
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    }, store.fail);
  return (
    <button
      type="button"
      class={children ? "button" : "button icon-only"}
      {...(children === undefined && { "aria-label": label })}
      title={label}
      onClick={copy}
    >
      <Icon name={copied ? "check" : "copy"} />
      {children}
    </button>
  );
}
