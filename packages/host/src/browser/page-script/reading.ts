/// <reference lib="dom" />
import type { Naming } from "./naming.ts";
import type { Texts } from "./texts.ts";

export interface Item {
  readonly element: Element;
  readonly role: string;
  readonly name: string;
  readonly states: string;
  readonly children: Part[];
  /** It reacts to the pointer, whatever its role says. */
  readonly acts?: boolean;
}
/** A string is text; null ends a line of it. */
export type Part = Item | string | null;

/** Reads a page as a tree of elements with roles. Self-contained: it is sent to pages as source. */
export function createReading(
  texts: Texts,
  naming: Naming,
  marks: { readonly host: () => Element | undefined },
  EDITORS: string,
) {
  const { clean, cut, keepSpaces, MAX_NAME, TEXT_NODE } = texts;
  const { roleOf, labelOf, hintOf, statesOf } = naming;
  const SKIPPED = new Set("SCRIPT STYLE NOSCRIPT TEMPLATE HEAD META LINK TITLE DATALIST".split(" "));
  const INLINE = new Set(
    "SPAN B I EM STRONG CODE SMALL SUB SUP ABBR TIME MARK U S FONT CITE Q KBD VAR SAMP BDI LABEL SLOT TT INS DEL".split(
      " ",
    ),
  );
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
  const MAX_OPTIONS = 20;
  const CLOCK_EVERY = 128;
  /** Checking the cursor style is slow; on huge pages only `onclick` counts. */
  const MAX_STYLED = 20_000;

  /** Reads the page below `root`; stops when the time is up. */
  function readTree(root: Element, deadline: number): { parts: Part[]; complete: boolean } {
    let seen = 0;
    let isLate = false;
    let preformatted = 0;
    naming.start(root);
    const visit = (element: Element, out: Part[], underPointer: boolean): void => {
      if (isLate || (++seen % CLOCK_EVERY === 0 && performance.now() > deadline)) {
        isLate = true;
        return;
      }
      if (SKIPPED.has(element.tagName) || element === marks.host()) return;
      if (element.getAttribute("aria-hidden") === "true") return;
      // An element with display `contents` has no box, but its children have.
      if (element.matches(EDITORS)) {
        out.push(readEditor(element));
        return;
      }
      const isShown = element.checkVisibility({ visibilityProperty: true });
      if (!isShown && !element.checkVisibility() && getComputedStyle(element).display !== "contents") return;
      const isSeen = isShown || getComputedStyle(element).visibility === "visible";
      const given = roleOf(element);
      const isPointer =
        given === "" && isSeen && seen < MAX_STYLED && getComputedStyle(element).cursor === "pointer";
      const isEditable =
        (element as HTMLElement).isContentEditable &&
        (element === document.body || !element.parentElement?.isContentEditable);
      const isClickable = (isPointer && !underPointer) || isMadeForClicks(element);
      const role =
        given || (isEditable ? "textbox" : isClickable && !labelsControl(element) ? "clickable" : "");
      const inner: Part[] = [];
      const isLeaf =
        role === "iframe" || role === "textbox" || element.tagName === "SELECT" || role === "img";
      if (element.tagName === "PRE") preformatted++;
      if (!isLeaf || isEditable)
        visitChildren(element, inner, isPointer || underPointer || INTERACTIVE.has(given), isSeen);
      if (element.tagName === "PRE") preformatted--;
      if (element.tagName === "SELECT") addOptions(element as HTMLSelectElement, inner);
      if (role === "" || !isSeen) {
        const breaks = !INLINE.has(element.tagName);
        if (breaks) out.push(null);
        // A label's text is the name of its control.
        out.push(...(labelsControl(element) ? inner.filter((part) => typeof part === "object") : inner));
        if (breaks) out.push(null);
        return;
      }
      out.push(
        isMadeForClicks(element)
          ? { ...toNode(element, role, inner), acts: true }
          : toNode(element, role, inner),
      );
    };
    const visitChildren = (element: Element, out: Part[], underPointer: boolean, isSeen: boolean): void => {
      const isSlot = element.tagName === "SLOT" && (element as HTMLSlotElement).assignedNodes().length > 0;
      const nodes = isSlot
        ? (element as HTMLSlotElement).assignedNodes()
        : (element.shadowRoot ?? element).childNodes;
      const isFolded = element.tagName === "DETAILS" && !(element as HTMLDetailsElement).open;
      for (const node of nodes) {
        if (node.nodeType === TEXT_NODE) {
          if (isSeen && !isFolded && node.nodeValue)
            out.push(preformatted > 0 ? keepSpaces(node.nodeValue) : node.nodeValue);
        } else if (node.nodeType === 1) visit(node as Element, out, underPointer);
      }
    };
    const parts: Part[] = [];
    const whole = root === document.documentElement ? (document.body ?? root) : root;
    // Editors make the body of a frame editable.
    if (whole === document.body && !document.body.isContentEditable) visitChildren(whole, parts, false, true);
    else visit(whole, parts, false);
    return { parts, complete: !isLate };
  }

  /** Code editors hide their text from accessibility tools and take keys in a field that cannot be seen. */
  function readEditor(element: Element): Item {
    const lines = [...element.querySelectorAll(".view-line, .ace_line, .CodeMirror-line")]
      .map((line) => ({ top: line.getBoundingClientRect().top, text: line.textContent ?? "" }))
      .sort((a, b) => a.top - b.top);
    const field = element.querySelector("textarea, [role=textbox], [contenteditable=true]");
    const text = lines.map((line) => line.text.replaceAll("\u00a0", " ")).join("\n");
    const name = cut((field && labelOf(field)) || labelOf(element), MAX_NAME);
    return { element, role: "textbox", name, states: " multiline", children: [keepSpaces(text)] };
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
      return { element, role, name: cut(label || hintOf(element), MAX_NAME), states, children: inner };
    const content = clean(textOf(inner));
    const nodes = inner.filter((part) => typeof part === "object" && part !== null);
    const name = cut(label || content || hintOf(element), MAX_NAME);
    return { element, role, name, states, children: nodes };
  }

  /** The visible elements with this role and name, as a snapshot would show them. */
  function findByRole(
    root: Document | Element | ShadowRoot,
    role: string,
    name: string,
    anyCase: boolean,
  ): Element[] {
    const wanted = anyCase ? name.toLowerCase() : name;
    const isWanted = (text: string) => (anyCase ? text.toLowerCase() : text) === wanted;
    naming.start(document.documentElement);
    const found: Element[] = [];
    const search = (from: Document | Element | ShadowRoot): void => {
      for (const element of from.querySelectorAll("*")) {
        if (element.shadowRoot) search(element.shadowRoot);
        if (roleOf(element) !== role || !element.checkVisibility({ visibilityProperty: true })) continue;
        if (element.closest("[aria-hidden=true]")) continue;
        if (isWanted(clean(labelOf(element) || nameByContent(element, role) || hintOf(element))))
          found.push(element);
      }
    };
    search(root);
    return found;
  }

  /** The text alone, unless pictures or labels inside it count too. */
  function nameByContent(element: Element, role: string): string {
    if (!NAMED_BY_CONTENT.has(role)) return "";
    if (!element.querySelector("[alt], [aria-label], [aria-labelledby], [aria-hidden], svg, slot, style"))
      return element.textContent ?? "";
    const { parts } = readTree(element, Number.POSITIVE_INFINITY);
    const [own] = parts;
    return typeof own === "object" && own !== null ? own.name : textOf(parts);
  }

  const textOf = (parts: readonly Part[]): string =>
    parts
      .map((part) =>
        part === null ? " " : typeof part === "string" ? part : part.name || textOf(part.children),
      )
      .join("");

  return { readTree, findByRole, textOf, isInteractive: (role: string): boolean => INTERACTIVE.has(role) };
}

export type Reading = ReturnType<typeof createReading>;
