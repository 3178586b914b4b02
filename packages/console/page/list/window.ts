/** The rows of a long list that are worth drawing. */
export interface ListWindow {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Height of the whole list in pixels. */
  readonly height: number;
}

/** Rows beyond both edges, so that a short scroll shows no gap. */
const OVERSCAN = 8;

export function windowOf(
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
): ListWindow {
  const first = Math.floor(Math.max(0, scrollTop) / rowHeight);
  const visible = Math.ceil(viewHeight / rowHeight);
  const from = Math.max(0, Math.min(first, count - visible) - OVERSCAN);
  return { from, to: Math.min(count, first + visible + OVERSCAN), height: count * rowHeight };
}

/** The scroll position that shows a row, moving as little as possible. */
export function scrollToShow(
  index: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  return top + rowHeight > scrollTop + viewHeight ? top + rowHeight - viewHeight : scrollTop;
}
