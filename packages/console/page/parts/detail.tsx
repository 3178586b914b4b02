import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { toVisible } from "../text/visible.ts";

interface DetailProps {
  readonly label: string;
  readonly class: string;
  readonly children: ComponentChildren;
  /** It stands beside the list of a view, and closes. */
  readonly isPanel?: true;
}

/**
 * One item of a list in full. It takes the focus, so that Tab leads to its buttons and not through the page before it,
 * and gives it back; who is typing stays in the field.
 */
export function Detail({ label, class: name, children, isPanel }: DetailProps) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    if (before?.closest("input, textarea, select, dialog")) return;
    element.current?.focus({ preventScroll: true });
    return () => {
      const isThere = before instanceof HTMLElement && before !== document.body && before.isConnected;
      (isThere ? before : document.getElementById("main"))?.focus({ preventScroll: true });
    };
  }, []);
  const Element = isPanel ? "aside" : "article";
  return (
    <Element ref={element} class={name} aria-label={toVisible(label)} tabIndex={-1}>
      {children}
    </Element>
  );
}
