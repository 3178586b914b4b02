import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Foreign } from "../text/foreign.tsx";
import { toVisible } from "../text/visible.ts";
import { Icon } from "./icon.tsx";

interface DialogProps {
  readonly title: string;
  onClose(): void;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A window above the page; Escape closes it and the focus returns. */
export function Dialog({ title, onClose, wide, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    element.current?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-label={toVisible(title)}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <header>
        <h2>
          <Foreign text={title} oneLine />
        </h2>
        <button type="button" class="button icon-only quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
