import { useEffect, useState } from "preact/hooks";
import { usePage } from "../data/context.ts";
import { Dot } from "../parts/badge.tsx";

/** A short interruption is not reported. */
const CALM_MS = 1_500;

/** Says that the connection is lost, and that the page continues by itself. */
export function Banner() {
  const { store } = usePage();
  const isLost = store.connection.value === "lost";
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) return setShown(false);
    const timer = setTimeout(() => setShown(true), CALM_MS);
    return () => clearTimeout(timer);
  }, [isLost]);
  return (
    <div role="status" class="banner-place">
      {shown && (
        <div class="banner">
          <Dot tone="warn" moving />
          <p>
            Connection lost. This page reconnects by itself and catches up; what you see is the last known
            state.
          </p>
        </div>
      )}
    </div>
  );
}
