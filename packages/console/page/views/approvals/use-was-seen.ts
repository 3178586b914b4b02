import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Shorter than anybody reads a question, longer than the second click of a double click comes after the first. */
const SEEN_MS = 500;

/**
 * Whether the element has been in view for a moment in which nobody clicked or typed. A click or key that was meant for
 * the question before must not answer the one that took its place.
 */
export function useWasSeen(element: RefObject<Element | null>): boolean {
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    const node = element.current;
    if (!node || seen) return;
    let isInView = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const restart = () => {
      clearTimeout(timer);
      if (isInView && document.visibilityState === "visible")
        timer = setTimeout(() => setSeen(true), SEEN_MS);
    };
    const observer = new IntersectionObserver(([entry]) => {
      isInView = entry?.isIntersecting === true;
      restart();
    });
    observer.observe(node);
    const ended = new AbortController();
    const options = { capture: true, signal: ended.signal };
    for (const name of ["pointerdown", "keydown"]) addEventListener(name, restart, options);
    document.addEventListener("visibilitychange", restart, options);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      ended.abort();
    };
  }, [seen]);
  return seen;
}
