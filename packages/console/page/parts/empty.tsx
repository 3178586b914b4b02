import type { ComponentChildren } from "preact";
import { Command } from "./command.tsx";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A command for a terminal. */
  readonly command?: string;
  /** A button that does it here. */
  readonly action?: ComponentChildren;
}

/** Says why there is nothing, and what to do. */
export function Empty({ icon, title, children, command, action }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {command && <Command text={command} />}
      {action && <div class="empty-action">{action}</div>}
    </div>
  );
}
