import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { scrollToShow, windowOf } from "../list/window.ts";
import { useKeys } from "../shell/use-keys.ts";

interface Props {
  readonly label: string;
  readonly count: number;
  readonly rowHeight: number;
  readonly selected: number;
  onSelect(index: number): void;
  onOpen?(index: number): void;
  /** Whether the list is scrolled away from its top. */
  onAway?(away: boolean): void;
  keyOf(index: number): string | number;
  row(index: number): ComponentChildren;
}

/** A list of any length that draws only the rows in view. All rows have the same height. */
export function VirtualList({
  label,
  count,
  rowHeight,
  selected,
  onSelect,
  onOpen,
  onAway,
  keyOf,
  row,
}: Props) {
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const node = element.current;
    if (!node) return;
    const measure = () => setView({ top: node.scrollTop, height: node.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    measure();
    return () => observer.disconnect();
  }, []);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(count - 1, selected + by));
    if (count === 0) return;
    onSelect(next);
    const node = element.current;
    if (node) node.scrollTop = scrollToShow(next, rowHeight, node.scrollTop, node.clientHeight);
  };
  const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
  useKeys({
    j: { help: "Next row", run: () => move(1) },
    k: { help: "Previous row", run: () => move(-1) },
    ArrowDown: { run: () => move(1) },
    ArrowUp: { run: () => move(-1) },
    PageDown: { run: () => move(page) },
    PageUp: { run: () => move(-page) },
    Home: { run: () => move(-count) },
    End: { run: () => move(count) },
    Enter: { help: "Open the row", run: () => onOpen?.(selected) },
  });
  const { from, to, height } = windowOf(count, rowHeight, view.top, view.height);
  const rows = [];
  for (let index = from; index < to; index++)
    rows.push(
      <div
        key={keyOf(index)}
        class="row"
        role="listitem"
        aria-setsize={count}
        aria-posinset={index + 1}
        aria-current={index === selected ? "true" : undefined}
        style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
        onClick={() => {
          onSelect(index);
          onOpen?.(index);
        }}
      >
        {row(index)}
      </div>,
    );
  return (
    <div
      ref={element}
      class="virtual-list"
      role="list"
      aria-label={label}
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight } }) => {
        setView({ top: scrollTop, height: clientHeight });
        onAway?.(scrollTop > rowHeight);
      }}
    >
      <div class="virtual-list-body" role="presentation" style={{ height: `${height}px` }}>
        {rows}
      </div>
    </div>
  );
}
