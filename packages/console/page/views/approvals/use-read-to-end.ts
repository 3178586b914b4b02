import { useEffect, useState } from "preact/hooks";

/** Less than a line. */
const SLACK_PX = 8;
/** A diff is drawn after its code has been loaded. */
const DRAWN_MS = 700;

/** Whether the end of an element that scrolls has been in view: a yes counts only when everything could be read. */
export function useReadToEnd(element: { readonly current: HTMLElement | null }): boolean {
  const [isRead, setRead] = useState(false);
  useEffect(() => {
    const node = element.current;
    if (!node || isRead) return;
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      clearTimeout(timer);
      if (node.querySelector(".loading")) timer = setTimeout(look, DRAWN_MS);
      else if (node.scrollHeight - node.scrollTop - node.clientHeight <= SLACK_PX) setRead(true);
    };
    // Also after the window or the text has changed its size: what fits then cannot be scrolled.
    const sizes = new ResizeObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(look, DRAWN_MS);
    });
    for (const element of [node, ...node.children]) sizes.observe(element);
    node.addEventListener("scroll", look, { passive: true });
    return () => {
      clearTimeout(timer);
      sizes.disconnect();
      node.removeEventListener("scroll", look);
    };
  }, [isRead]);
  return isRead;
}
