/// <reference lib="dom" />
import type { Marks } from "./marks.ts";
import type { Reading } from "./reading.ts";
import type { Line, Refs, Rendering } from "./rendering.ts";
import type { ChangesAnswer, PageRequest, TreeAnswer, TreeRequest } from "./requests.ts";

/** Answers requests inside a page. Self-contained: it is sent to pages as source. */
export function createEngine(
  { readTree, findByRole }: Reading,
  { render, toText }: Rendering,
  { mark, unmark }: Marks,
  refs: Refs,
) {
  let remembered:
    | { lines: Map<string, Line>; order: ReadonlyMap<string, number>; complete: boolean }
    | undefined;

  /** The page's own handlers may still prevent a click when it is seen here. */
  let linkClicks: { readonly url: string; readonly event: Event }[] = [];
  const onClick = (event: Event) => {
    const link = event.composedPath().find(isDownloadLink);
    if (link) linkClicks = [...linkClicks.slice(-9), { url: link.href, event }];
  };
  const isDownloadLink = (node: EventTarget): node is HTMLAnchorElement | HTMLAreaElement =>
    node instanceof Element && node.matches("a[download][href], area[download][href]");
  addEventListener("click", onClick, true);

  function takeDownloadLinks(): string[] {
    const used = linkClicks.filter(({ event }) => !event.defaultPrevented);
    linkClicks = [];
    return [...new Set(used.map(({ url }) => url))];
  }

  function tree(root: Element, request: TreeRequest): TreeAnswer {
    const { parts, complete } = readTree(root, performance.now() + request.maxMs);
    const { lines, next, isFull } = render(parts, request);
    if (request.remember) remember(lines, complete && !isFull);
    return { text: toText(lines), lines: lines.length, next, complete: complete && !isFull };
  }

  const remember = (lines: readonly Line[], complete: boolean) => {
    remembered = { lines: new Map(lines.map((line) => [line.key, line])), order: orderOf(lines), complete };
  };

  function changes(root: Element, request: TreeRequest & { maxChangeChars: number }): ChangesAnswer {
    const before = remembered;
    const { parts, complete } = readTree(root, performance.now() + request.maxMs);
    const { lines, next, isFull } = render(parts, request);
    const isWhole = complete && !isFull;
    remember(lines, isWhole);
    const found = before
      ? [
          ...changedLines(before, lines),
          ...movedLines(before, lines),
          ...goneLines(before.lines, lines, isWhole),
        ]
      : undefined;
    const shown: string[] = [];
    let room = request.maxChangeChars;
    for (const text of found ?? beginning(lines, room).split("\n")) {
      room -= text.length + 1;
      if (room < 0) break;
      shown.push(text);
    }
    const total = found?.length ?? lines.length;
    return {
      text: shown.join("\n"),
      lines: shown.length,
      next,
      complete: isWhole,
      fresh: before === undefined,
      more: Math.max(0, total - shown.length),
      title: document.title,
      downloadLinks: takeDownloadLinks(),
    };
  }

  /** Lines beyond the part that was read before are not known to be new. */
  function* changedLines(before: NonNullable<typeof remembered>, now: readonly Line[]) {
    const end = before.complete ? now.length : now.findLastIndex(({ key }) => before.lines.has(key)) + 1;
    for (const { key, text, parent } of now.slice(0, end)) {
      const old = before.lines.get(key);
      if (old === undefined) yield text.replace(/^-/, "+");
      else if (old.text !== text) yield text.replace(/^-/, "~");
      else if (old.parent !== parent)
        yield `${text.replace(/^-/, "~")} moved${parent && ` into [${parent}]`}`;
    }
  }

  /** The position of each line; lines that occur more than once have none. */
  function orderOf(lines: readonly Line[]): ReadonlyMap<string, number> {
    const order = new Map<string, number>();
    const repeated = new Set<string>();
    for (const [index, { key }] of lines.entries()) {
      if (order.has(key)) repeated.add(key);
      order.set(key, index);
    }
    for (const key of repeated) order.delete(key);
    return order;
  }

  /** Lines that changed places with others in the same element: the fewer of those before and those after. */
  function movedLines(before: NonNullable<typeof remembered>, now: readonly Line[]): string[] {
    const order = orderOf(now);
    const kept = now.flatMap((line) => {
      const place = order.has(line.key) ? before.order.get(line.key) : undefined;
      const isSame = before.lines.get(line.key)?.parent === line.parent;
      return place === undefined || !isSame ? [] : [{ line, place }];
    });
    const later: Line[] = [];
    let last = -1;
    for (const { line, place } of kept) {
      if (place < last) later.push(line);
      else last = place;
    }
    const earlier: Line[] = [];
    let first = Number.POSITIVE_INFINITY;
    for (const { line, place } of kept.toReversed()) {
      if (place > first) earlier.push(line);
      else first = place;
    }
    const fewer = later.length <= earlier.length ? later : earlier.reverse();
    return fewer.map(({ text }) => `${text.replace(/^-/, "~")} moved`);
  }

  /** When the page was not read completely, only lines that are certainly gone. */
  function* goneLines(before: ReadonlyMap<string, Line>, now: readonly Line[], isWhole: boolean) {
    const kept = new Set(now.map(({ key }) => key));
    for (const [key, { text }] of before) {
      if (kept.has(key)) continue;
      if (isWhole || refs.byRef.get(key)?.deref()?.isConnected === false)
        yield `gone ${text.replace(/^- /, "")}`;
    }
  }

  /** A new page that does not fit is shown from its main part on: the rest is the same on every page of a site. */
  function beginning(lines: readonly Line[], room: number): string {
    const whole = toText(lines);
    return whole.length <= room ? whole : toText(fromMain(lines));
  }

  function fromMain(lines: readonly Line[]): readonly Line[] {
    const start = lines.findIndex(({ text }) => text.startsWith("- main "));
    const top = lines[start]?.level ?? 0;
    return start < 0
      ? lines
      : lines.slice(start).map((line) => ({ ...line, level: Math.max(0, line.level - top) }));
  }

  function answer(root: Document | Element | ShadowRoot, request: PageRequest): unknown {
    const element = root instanceof Element ? root : (document.body ?? document.documentElement);
    switch (request.op) {
      case "tree":
        return tree(element, request);
      case "changes":
        return changes(element, request);
      case "mark":
        return mark();
      case "unmark":
        return unmark();
    }
    return undefined;
  }

  return {
    query(root: Document | Element | ShadowRoot, selector: string): Element | undefined {
      return this.queryAll(root, selector)[0];
    },
    queryAll(root: Document | Element | ShadowRoot, selector: string): Element[] {
      const request: PageRequest = JSON.parse(selector);
      if (request.op === "ref") {
        const element = refs.byRef.get(request.ref)?.deref();
        return element?.isConnected ? [element] : [];
      }
      if (request.op === "role") return findByRole(root, request.role, request.name, request.anyCase);
      // A late answer would be lost, and with it the changes that it reported.
      if ("until" in request && Date.now() > request.until) return [];
      const carrier = document.createElement("pre");
      carrier.textContent = JSON.stringify(answer(root, request) ?? null);
      return [carrier];
    },
  };
}
