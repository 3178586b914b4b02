/// <reference lib="dom" />

/** What the script is asked, as JSON behind `octant=`. */
export type PageRequest =
  | { readonly op: "ref"; readonly ref: string }
  | ({ readonly op: "tree" } & TreeRequest)
  | ({ readonly op: "changes" } & TreeRequest & { readonly maxChangeChars: number })
  | { readonly op: "mark" }
  | { readonly op: "unmark" };

export interface TreeRequest {
  /** The first number for elements that have no ref yet. */
  readonly next: number;
  /** Before each ref; names the frame. */
  readonly prefix: string;
  readonly interactive: boolean;
  /** How deep to go; 0 for all. */
  readonly depth: number;
  readonly maxChars: number;
  readonly maxMs: number;
  /** Whether later changes are told from here on. */
  readonly remember: boolean;
}

export interface TreeAnswer {
  /** One line for each element, indented by two spaces a level. */
  readonly text: string;
  readonly lines: number;
  readonly next: number;
  /** False when time or room ran out. */
  readonly complete: boolean;
}

export interface ChangesAnswer extends TreeAnswer {
  /** Nothing was remembered here: `text` is the beginning of the page, not a change. */
  readonly fresh: boolean;
  /** Changed lines that are not in `text`. */
  readonly more: number;
}

/**
 * Runs inside pages, in a world that their scripts cannot reach. It is registered as a selector engine, which is the
 * documented way into that world; an answer that is not an element comes as the text of one that is attached nowhere.
 * Self-contained: it is sent as source.
 */
export function createPageScript() {
  const refs = new WeakMap<Element, string>();
  const elements = new Map<string, WeakRef<Element>>();
  let remembered: { lines: Map<string, Line>; complete: boolean } | undefined;
  let marks: Element | undefined;
  let focused: Element | null = null;
  let labels = new Map<Node, Map<Element, Element[]>>();

  const SKIPPED = new Set([
    "SCRIPT",
    "STYLE",
    "NOSCRIPT",
    "TEMPLATE",
    "HEAD",
    "META",
    "LINK",
    "TITLE",
    "DATALIST",
  ]);
  const INLINE = new Set(
    "SPAN B I EM STRONG CODE SMALL SUB SUP ABBR TIME MARK U S FONT CITE Q KBD VAR SAMP BDI LABEL SLOT TT INS DEL".split(
      " ",
    ),
  );
  const ROLES: Readonly<Record<string, string>> = {
    ...{ BUTTON: "button", SUMMARY: "button", TEXTAREA: "textbox", OPTION: "option", DIALOG: "dialog" },
    ...{ H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading" },
    ...{ NAV: "navigation", MAIN: "main", ASIDE: "complementary", FORM: "form", ARTICLE: "article" },
    ...{ UL: "list", OL: "list", MENU: "list", LI: "listitem", TABLE: "table", TR: "row", TD: "cell" },
    ...{ TH: "columnheader", P: "paragraph", FIELDSET: "group", DETAILS: "group", IFRAME: "iframe" },
    ...{ FRAME: "iframe", VIDEO: "video", AUDIO: "audio", CANVAS: "canvas", PROGRESS: "progressbar" },
    ...{ METER: "meter", OUTPUT: "status", HR: "separator", BLOCKQUOTE: "blockquote", FIGURE: "figure" },
  };
  const INPUTS: Readonly<Record<string, string>> = {
    ...{ button: "button", submit: "button", reset: "button", image: "button", file: "button" },
    ...{ checkbox: "checkbox", radio: "radio", range: "slider", number: "spinbutton", search: "searchbox" },
  };
  const INTERACTIVE = new Set(
    (
      "button link textbox searchbox combobox listbox option checkbox radio switch slider spinbutton tab menuitem " +
      "menuitemcheckbox menuitemradio treeitem clickable iframe scrollbar gridcell"
    ).split(" "),
  );
  /** Their text is their name. */
  const NAMED_BY_CONTENT = new Set(
    "button link heading option tab menuitem menuitemcheckbox menuitemradio treeitem switch clickable tooltip columnheader rowheader".split(
      " ",
    ),
  );
  const WITH_REF = new Set(
    "heading main navigation form dialog alertdialog region table list row group img video canvas status alert figure article tree grid menu tablist".split(
      " ",
    ),
  );
  const LABELABLE = new Set("INPUT SELECT TEXTAREA BUTTON METER OUTPUT PROGRESS".split(" "));
  const MAX_NAME = 160;
  const MAX_TEXT = 1_000;
  const MAX_OPTIONS = 20;
  const MAX_MARKS = 200;
  const CLOCK_EVERY = 128;
  /** Whether the pointer becomes a hand takes long to find out; on huge pages only `onclick` tells. */
  const MAX_STYLED = 20_000;

  interface Item {
    readonly element: Element;
    readonly role: string;
    readonly name: string;
    readonly states: string;
    readonly children: Part[];
  }
  /** A string is text; null ends a line of it. */
  type Part = Item | string | null;

  interface Line {
    /** A ref, or the text and where it stands. */
    readonly key: string;
    readonly level: number;
    readonly text: string;
    /** The ref of what it stands in. */
    readonly parent: string;
  }

  const clean = (text: string): string => text.replace(/\s+/g, " ").trim();
  const cut = (text: string, length: number): string =>
    text.length > length ? `${text.slice(0, length - 1)}…` : text;

  function roleOf(element: Element): string {
    const given = element.getAttribute("role")?.trim().split(/\s+/)[0]?.toLowerCase();
    if (given && given !== "none" && given !== "presentation") return given;
    const { tagName } = element;
    if (given) return "";
    if (tagName === "INPUT") return INPUTS[(element as HTMLInputElement).type] ?? "textbox";
    if (tagName === "A" || tagName === "AREA") return element.hasAttribute("href") ? "link" : "";
    if (tagName === "SELECT") {
      const { multiple, size } = element as HTMLSelectElement;
      return multiple || size > 1 ? "listbox" : "combobox";
    }
    if (tagName === "IMG") return element.getAttribute("alt") === "" ? "" : "img";
    if (tagName === "svg") return element.hasAttribute("aria-label") ? "img" : "";
    if (tagName === "SECTION") return labelOf(element) ? "region" : "";
    if (tagName === "HEADER" || tagName === "FOOTER") {
      if (element.parentElement?.tagName !== "BODY") return "";
      return tagName === "HEADER" ? "banner" : "contentinfo";
    }
    return ROLES[tagName] ?? "";
  }

  /** The name that attributes and labels give; what its content says is added by the caller. */
  function labelOf(element: Element): string {
    const by = element.getAttribute("aria-labelledby");
    if (by) {
      const scope = element.getRootNode() as Document | ShadowRoot;
      const text = by.split(/\s+/).map((id) => clean(scope.getElementById?.(id)?.textContent ?? ""));
      if (text.some(Boolean)) return text.filter(Boolean).join(" ");
    }
    const label = element.getAttribute("aria-label")?.trim();
    if (label) return label;
    const { tagName } = element;
    if (LABELABLE.has(tagName)) {
      const text = clean(labelsOf(element).map(ownText).join(" "));
      if (text) return text;
    }
    if (tagName === "INPUT") {
      const { type, value } = element as HTMLInputElement;
      if ((type === "submit" || type === "reset" || type === "button") && value) return value;
      if (type === "submit") return "Submit";
    }
    if (tagName === "FIELDSET") return clean(element.querySelector(":scope > legend")?.textContent ?? "");
    if (tagName === "TABLE") return clean((element as HTMLTableElement).caption?.textContent ?? "");
    for (const name of ["alt", "title", "placeholder"]) {
      const value = element.getAttribute(name)?.trim();
      if (value) return value;
    }
    return "";
  }

  /** `element.labels` looks through the whole document for each element, so this does it once for all. */
  function labelsOf(element: Element): readonly Element[] {
    const root = element.getRootNode() as Document | ShadowRoot;
    let known = labels.get(root);
    if (!known) {
      known = new Map();
      for (const label of root.querySelectorAll("label"))
        if (label.control) known.set(label.control, [...(known.get(label.control) ?? []), label]);
      labels.set(root, known);
    }
    return known.get(element) ?? [];
  }

  /** Of a label, without what the control inside it says. */
  function ownText(label: Element): string {
    const texts: string[] = [];
    const walker = document.createTreeWalker(label, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node instanceof Element && /^(SELECT|TEXTAREA|BUTTON|SCRIPT|STYLE)$/.test(node.tagName)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
    );
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (node.nodeType === TEXT_NODE) texts.push(node.nodeValue ?? "");
    return texts.join(" ");
  }
  const TEXT_NODE = 3;

  function statesOf(element: Element, role: string): string {
    const states: string[] = [];
    const input = element as HTMLInputElement;
    const aria = (name: string) => element.getAttribute(`aria-${name}`);
    if (role === "heading") states.push(`level=${aria("level") ?? element.tagName[1] ?? "2"}`);
    if (element.matches(":disabled") || aria("disabled") === "true") states.push("disabled");
    if (role === "checkbox" || role === "radio" || role === "switch" || role === "menuitemcheckbox") {
      const isChecked = element.tagName === "INPUT" ? input.checked : aria("checked") === "true";
      if (input.indeterminate || aria("checked") === "mixed") states.push("mixed");
      else if (isChecked) states.push("checked");
    }
    if (aria("pressed") === "true") states.push("pressed");
    if (aria("selected") === "true") states.push("selected");
    if (aria("current")) states.push("current");
    if (aria("invalid") === "true") states.push("invalid");
    if (input.required || aria("required") === "true") states.push("required");
    if (input.readOnly) states.push("readonly");
    const isExpanded =
      element.tagName === "SUMMARY" ? (element.parentElement as HTMLDetailsElement | null)?.open : undefined;
    const expanded = aria("expanded") ?? (isExpanded === undefined ? null : String(isExpanded));
    if (expanded) states.push(expanded === "true" ? "expanded" : "collapsed");
    if (focused === element && element !== document.body) states.push("focused");
    const value = currentValue(element, role);
    if (value !== undefined) states.push(`value=${JSON.stringify(cut(value, MAX_NAME))}`);
    if (role === "link") states.push(`url=${shortUrl(element.getAttribute("href") ?? "")}`);
    return states.map((state) => ` ${state}`).join("");
  }

  function currentValue(element: Element, role: string): string | undefined {
    if (element.tagName === "SELECT")
      return [...(element as HTMLSelectElement).selectedOptions].map(({ label }) => clean(label)).join(", ");
    if (role === "slider" || role === "progressbar" || role === "meter" || role === "spinbutton")
      return (
        (element as HTMLInputElement).value?.toString() ?? element.getAttribute("aria-valuenow") ?? undefined
      );
    if (role !== "textbox" && role !== "searchbox" && role !== "combobox") return undefined;
    const { value, type } = element as HTMLInputElement;
    if (value === undefined) return undefined;
    // A password that was typed is nobody's to read.
    return type === "password" ? "•".repeat(value.length) : value || undefined;
  }

  const shortUrl = (href: string): string => {
    const isHere = href.startsWith(`${location.origin}/`);
    return cut(isHere ? href.slice(location.origin.length) : href, MAX_NAME).replaceAll(" ", "%20");
  };

  /** Reads the page below `root`; stops when the time is up. */
  function readTree(root: Element, deadline: number): { parts: Part[]; complete: boolean } {
    let seen = 0;
    let isLate = false;
    labels = new Map();
    focused = (root.getRootNode() as Document | ShadowRoot).activeElement ?? null;
    const visit = (element: Element, out: Part[], underPointer: boolean): void => {
      if (isLate || (++seen % CLOCK_EVERY === 0 && performance.now() > deadline)) {
        isLate = true;
        return;
      }
      if (SKIPPED.has(element.tagName) || element === marks) return;
      if (element.getAttribute("aria-hidden") === "true") return;
      // An element whose display is `contents` has no box of its own, but its children have.
      const isShown = element.checkVisibility({ visibilityProperty: true });
      if (!isShown && !element.checkVisibility() && getComputedStyle(element).display !== "contents") return;
      const isSeen = isShown || getComputedStyle(element).visibility === "visible";
      const given = roleOf(element);
      const isPointer =
        given === "" && isSeen && seen < MAX_STYLED && getComputedStyle(element).cursor === "pointer";
      const isEditable =
        (element as HTMLElement).isContentEditable && !element.parentElement?.isContentEditable;
      const isClickable = (isPointer && !underPointer) || isMadeForClicks(element);
      const role =
        given || (isEditable ? "textbox" : isClickable && !labelsControl(element) ? "clickable" : "");
      const inner: Part[] = [];
      const isLeaf =
        role === "iframe" || role === "textbox" || element.tagName === "SELECT" || role === "img";
      if (!isLeaf || isEditable)
        visitChildren(element, inner, isPointer || underPointer || INTERACTIVE.has(given), isSeen);
      if (element.tagName === "SELECT") addOptions(element as HTMLSelectElement, inner);
      if (role === "" || !isSeen) {
        const breaks = !INLINE.has(element.tagName);
        if (breaks) out.push(null);
        // A label's words are the name of its control.
        out.push(...(labelsControl(element) ? inner.filter((part) => typeof part === "object") : inner));
        if (breaks) out.push(null);
        return;
      }
      out.push(toNode(element, role, inner));
    };
    const visitChildren = (element: Element, out: Part[], underPointer: boolean, isSeen: boolean): void => {
      const isSlot = element.tagName === "SLOT" && (element as HTMLSlotElement).assignedNodes().length > 0;
      const nodes = isSlot
        ? (element as HTMLSlotElement).assignedNodes()
        : (element.shadowRoot ?? element).childNodes;
      for (const node of nodes) {
        if (node.nodeType === TEXT_NODE) {
          if (isSeen && node.nodeValue) out.push(node.nodeValue);
        } else if (node.nodeType === 1) visit(node as Element, out, underPointer);
      }
    };
    const parts: Part[] = [];
    if (root === document.documentElement || root === document.body)
      visitChildren(document.body ?? root, parts, false, true);
    else visit(root, parts, false);
    return { parts, complete: !isLate };
  }

  const isMadeForClicks = (element: Element): boolean =>
    element.hasAttribute("onclick") ||
    element.getAttribute("draggable") === "true" ||
    (element.getAttribute("tabindex") ?? "-1") >= "0";

  const labelsControl = (element: Element): boolean =>
    element.tagName === "LABEL" && (element as HTMLLabelElement).control !== null;

  function addOptions(select: HTMLSelectElement, out: Part[]): void {
    const options = [...select.options];
    for (const option of options.slice(0, MAX_OPTIONS))
      out.push({
        element: option,
        role: "option",
        name: clean(option.label),
        states: (option.selected ? " selected" : "") + (option.disabled ? " disabled" : ""),
        children: [],
      });
    if (options.length > MAX_OPTIONS) out.push(`… ${options.length - MAX_OPTIONS} more options`);
  }

  function toNode(element: Element, role: string, inner: Part[]): Item {
    const label = labelOf(element);
    const states = statesOf(element, role);
    if (!NAMED_BY_CONTENT.has(role))
      return { element, role, name: cut(label, MAX_NAME), states, children: inner };
    const content = clean(textOf(inner));
    const nodes = inner.filter((part) => typeof part === "object" && part !== null);
    return { element, role, name: cut(label || content, MAX_NAME), states, children: nodes };
  }

  const textOf = (parts: readonly Part[]): string =>
    parts
      .map((part) =>
        part === null ? " " : typeof part === "string" ? part : part.name || textOf(part.children),
      )
      .join("");

  /** Lines with keys that stay the same while the thing is the same. */
  function render(parts: readonly Part[], request: TreeRequest) {
    const { interactive, depth, maxChars, prefix } = request;
    const lines: Line[] = [];
    let { next } = request;
    let chars = 0;
    let isFull = false;
    const refOf = (element: Element): string => {
      const known = refs.get(element);
      if (known) return known;
      const ref = `${prefix}e${next++}`;
      refs.set(element, ref);
      elements.set(ref, new WeakRef(element));
      return ref;
    };
    const add = (key: string, level: number, text: string, parent: string) => {
      chars += text.length + 2 * level + 1;
      if (chars > maxChars) isFull = true;
      else lines.push({ key, level, text, parent });
    };
    const list = (children: readonly Part[], level: number, parent: string): void => {
      let text = "";
      const flush = () => {
        const line = cut(clean(text), MAX_TEXT);
        text = "";
        if (line && !interactive) add(`${parent}|${line}`, level, `- text: ${line}`, parent);
      };
      for (const part of children) {
        if (isFull) return;
        if (part === null) flush();
        else if (typeof part === "string") text += part;
        else {
          flush();
          node(part, level, parent);
        }
      }
      flush();
    };
    const node = ({ element, role, name, states, children }: Item, level: number, parent: string): void => {
      const isTarget = role !== "option" && (INTERACTIVE.has(role) || role === "textbox");
      if (interactive && !isTarget) {
        list(children, level, parent);
        return;
      }
      const hasRef = isTarget || WITH_REF.has(role);
      const ref = hasRef ? refOf(element) : undefined;
      const only = children.length > 0 && children.every((part) => typeof part !== "object" || part === null);
      const inline = only && !interactive ? cut(clean(textOf(children)), MAX_TEXT) : "";
      const head = `- ${role}${name ? ` ${JSON.stringify(name)}` : ""}${ref ? ` [${ref}]` : ""}${states}`;
      const text = inline && inline !== name ? `${head}: ${inline}` : head;
      const isEmptyBox = !name && !inline && children.length === 0 && !isTarget && states === "";
      if (!isEmptyBox) add(ref ?? `${parent}|${text}`, level, text, parent);
      if (only) return;
      if (depth > 0 && level + 1 >= depth) return;
      list(children, interactive ? level : level + 1, ref ?? parent);
    };
    list(parts, 0, "");
    return { lines, next, isFull };
  }

  const toText = (lines: readonly Line[]): string =>
    lines.map(({ level, text }) => "  ".repeat(level) + text).join("\n");

  function tree(root: Element, request: TreeRequest): TreeAnswer {
    const { parts, complete } = readTree(root, performance.now() + request.maxMs);
    const { lines, next, isFull } = render(parts, request);
    if (request.remember) remember(lines, complete && !isFull);
    return { text: toText(lines), lines: lines.length, next, complete: complete && !isFull };
  }

  const remember = (lines: readonly Line[], complete: boolean) => {
    remembered = { lines: new Map(lines.map((line) => [line.key, line])), complete };
  };

  function changes(root: Element, request: TreeRequest & { maxChangeChars: number }): ChangesAnswer {
    const before = remembered;
    const { parts, complete } = readTree(root, performance.now() + request.maxMs);
    const { lines, next, isFull } = render(parts, request);
    const isWhole = complete && !isFull;
    remember(lines, isWhole);
    const found = before
      ? [...changedLines(before.lines, lines), ...goneLines(before.lines, lines, isWhole)]
      : undefined;
    const shown: string[] = [];
    let room = request.maxChangeChars;
    for (const text of found ?? toText(lines).split("\n")) {
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
    };
  }

  function* changedLines(before: ReadonlyMap<string, Line>, now: readonly Line[]) {
    for (const { key, text, parent } of now) {
      const old = before.get(key);
      if (old === undefined) yield text.replace(/^-/, "+");
      else if (old.text !== text) yield text.replace(/^-/, "~");
      else if (old.parent !== parent)
        yield `${text.replace(/^-/, "~")} moved${parent && ` into [${parent}]`}`;
    }
  }

  /** When not all was read, only what is certainly gone. */
  function* goneLines(before: ReadonlyMap<string, Line>, now: readonly Line[], isWhole: boolean) {
    const kept = new Set(now.map(({ key }) => key));
    for (const [key, { text }] of before) {
      if (kept.has(key)) continue;
      if (isWhole || elements.get(key)?.deref()?.isConnected === false)
        yield `gone ${text.replace(/^- /, "")}`;
    }
  }

  /** Boxes with their refs over what can be acted on, for a picture. */
  function mark(): void {
    unmark();
    const host = document.createElement("div");
    host.style.cssText = "all:initial;position:fixed;inset:0;pointer-events:none;z-index:2147483647";
    const shadow = host.attachShadow({ mode: "closed" });
    let count = 0;
    for (const [ref, weak] of elements) {
      const element = weak.deref();
      if (!element?.isConnected || count >= MAX_MARKS) continue;
      if (!INTERACTIVE.has(roleOf(element) || "clickable")) continue;
      const { x, y, width, height } = element.getBoundingClientRect();
      const isInView = x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0;
      if (width < 2 || height < 2 || !isInView || !element.checkVisibility({ visibilityProperty: true }))
        continue;
      count++;
      const box = document.createElement("div");
      box.style.cssText = `position:fixed;left:${x}px;top:${y}px;width:${width}px;height:${height}px;outline:2px solid #d33`;
      const tag = document.createElement("span");
      tag.textContent = ref;
      tag.style.cssText =
        "position:absolute;left:0;top:0;background:#d33;color:#fff;font:bold 11px sans-serif;padding:0 2px";
      box.append(tag);
      shadow.append(box);
    }
    document.documentElement.append(host);
    marks = host;
  }
  function unmark(): void {
    marks?.remove();
    marks = undefined;
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
        const element = elements.get(request.ref)?.deref();
        return element?.isConnected ? [element] : [];
      }
      const carrier = document.createElement("pre");
      carrier.textContent = JSON.stringify(answer(root, request) ?? null);
      return [carrier];
    },
  };
}
