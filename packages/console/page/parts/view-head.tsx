import type { ComponentChildren } from "preact";

interface HeadProps {
  readonly title: string;
  readonly detail?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The title of a view, and its controls. */
export function ViewHead({ title, detail, children }: HeadProps) {
  return (
    <header class="view-head">
      <div class="view-title">
        <h1>{title}</h1>
        {detail && <p>{detail}</p>}
      </div>
      {children && <div class="view-controls">{children}</div>}
    </header>
  );
}
