import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Farther from the end than this the reader has scrolled up, and the page stays where it is. */
const FOLLOW_PX = 40;

/** Keeps `scroller` at its end while the element in it grows, unless the reader has scrolled up. */
export function useFollowing(
  element: RefObject<HTMLElement | null>,
  scroller: () => Element | null | undefined,
) {
  const isAtEnd = useRef(true);
  const [isAway, setAway] = useState(false);
  const toEnd = () => {
    isAtEnd.current = true;
    setAway(false);
    const node = scroller();
    if (node) node.scrollTop = node.scrollHeight;
  };
  useEffect(() => {
    const node = scroller();
    if (!element.current || !node) return;
    const ended = new AbortController();
    let last = node.scrollTop;
    const look = () => {
      const { scrollTop } = node;
      // The text may have grown since the page scrolled by itself; only scrolling up is the reader's doing.
      if (node.scrollHeight - scrollTop - node.clientHeight < FOLLOW_PX) isAtEnd.current = true;
      else if (scrollTop < last) isAtEnd.current = false;
      last = scrollTop;
      setAway(!isAtEnd.current);
    };
    node.addEventListener("scroll", look, { signal: ended.signal });
    // Parts that load later, and a smaller window, move the end as new text does.
    const observer = new ResizeObserver(() => isAtEnd.current && toEnd());
    observer.observe(element.current);
    observer.observe(node);
    toEnd();
    return () => {
      ended.abort();
      observer.disconnect();
    };
  }, []);
  return { isAway, toEnd };
}
