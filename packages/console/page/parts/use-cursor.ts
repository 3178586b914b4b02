import { useState } from "preact/hooks";

/** The row of a list that the keys have moved to. It begins at the open one, wherever that was opened. */
export function useCursor(open: string | undefined) {
  const [moved, setMoved] = useState<{
    readonly from: string | undefined;
    readonly to: string | undefined;
  }>();
  const cursor = moved?.from === open ? (moved?.to ?? open) : open;
  return [cursor, (to: string | undefined) => setMoved({ from: open, to })] as const;
}
