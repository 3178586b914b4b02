import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../data/context.ts";
import type { KeyMap } from "./keys.ts";

/** Keys that work while the component is shown. The set of keys stays the same; what they do may change. */
export function useKeys(map: KeyMap): void {
  const { keys } = usePage();
  const latest = useRef(map);
  latest.current = map;
  useEffect(
    () =>
      keys.add(
        Object.fromEntries(
          Object.entries(map).map(([key, { help }]) => [
            key,
            { ...(help !== undefined && { help }), run: () => latest.current[key]?.run() },
          ]),
        ),
      ),
    [],
  );
}
