/// <reference lib="dom" />
import type { Texts } from "./texts.ts";

/** Names one element: its role, name and states. Self-contained: it is sent to pages as source. */
export function createNaming({ clean, cut, MAX_NAME, TEXT_NODE }: Texts) {
  let focused: Element | null = null;
  let labels = new Map<Node, Map<Element, Element[]>>();
  const ROLES: Readonly<Record<string, string>> = {
    BUTTON: "button",
    SUMMARY: "button",
    TEXTAREA: "textbox",
    OPTION: "option",
    DIALOG: "dialog",
    H1: "heading",
    H2: "heading",
    H3: "heading",
    H4: "heading",
    H5: "heading",
    H6: "heading",
    NAV: "navigation",
    MAIN: "main",
    ASIDE: "complementary",
    FORM: "form",
    ARTICLE: "article",
    UL: "list",
    OL: "list",
    MENU: "list",
    LI: "listitem",
    TABLE: "table",
    TR: "row",
    TD: "cell",
    TH: "columnheader",
    P: "paragraph",
    FIELDSET: "group",
    DETAILS: "group",
    IFRAME: "iframe",
    FRAME: "iframe",
    VIDEO: "video",
    AUDIO: "audio",
    CANVAS: "canvas",
    PROGRESS: "progressbar",
    METER: "meter",
    OUTPUT: "status",
    HR: "separator",
    BLOCKQUOTE: "blockquote",
    FIGURE: "figure",
  };
  const INPUTS: Readonly<Record<string, string>> = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    file: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
  };
  /** Their role does not show which input they accept. */
  const FORMATTED = new Set("date time datetime-local month week color".split(" "));
  const LABELABLE = new Set("INPUT SELECT TEXTAREA BUTTON METER OUTPUT PROGRESS".split(" "));

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
    if (tagName === "SECTION") return labelOf(element) || hintOf(element) ? "region" : "";
    if (tagName === "HEADER" || tagName === "FOOTER") {
      if (element.parentElement?.tagName !== "BODY") return "";
      return tagName === "HEADER" ? "banner" : "contentinfo";
    }
    return ROLES[tagName] ?? "";
  }

  /** The name from attributes and labels; the caller adds the content. */
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
      if (type === "file") return "Choose file";
    }
    if (tagName === "FIELDSET") return clean(element.querySelector(":scope > legend")?.textContent ?? "");
    if (tagName === "TABLE") return clean((element as HTMLTableElement).caption?.textContent ?? "");
    return "";
  }

  /** The fallback for a name. */
  function hintOf(element: Element): string {
    for (const name of ["alt", "title", "placeholder"]) {
      const value = element.getAttribute(name)?.trim();
      if (value) return value;
    }
    return "";
  }

  /** `element.labels` searches the whole document for each element, so this does it once for all. */
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

  /** The text of a label without that of the control inside it. */
  function ownText(label: Element): string {
    const texts: string[] = [];
    const walker = document.createTreeWalker(label, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node instanceof Element && /^(SELECT|TEXTAREA|BUTTON|SCRIPT|STYLE)$/.test(node.tagName)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_ACCEPT,
    );
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (node.nodeType === TEXT_NODE) texts.push(node.nodeValue ?? "");
      else if (node instanceof HTMLSlotElement)
        texts.push(...node.assignedNodes().map(({ textContent }) => textContent ?? ""));
    return texts.join(" ");
  }

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
    if (element.getAttribute("draggable") === "true") states.push("draggable");
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
    if (element.tagName === "INPUT" && FORMATTED.has(input.type)) states.push(`type=${input.type}`);
    const value = currentValue(element, role);
    if (value !== undefined) states.push(`value=${JSON.stringify(cut(value, MAX_NAME))}`);
    if (role === "link") states.push(`url=${shortUrl(element.getAttribute("href") ?? "")}`);
    return states.map((state) => ` ${state}`).join("");
  }

  function currentValue(element: Element, role: string): string | undefined {
    const { files } = element as HTMLInputElement;
    if (element.tagName === "INPUT" && files)
      return [...files].map(({ name }) => name).join(", ") || undefined;
    if (element.tagName === "SELECT")
      return [...(element as HTMLSelectElement).selectedOptions].map(({ label }) => clean(label)).join(", ");
    if (role === "slider" || role === "progressbar" || role === "meter" || role === "spinbutton")
      return (
        (element as HTMLInputElement).value?.toString() ?? element.getAttribute("aria-valuenow") ?? undefined
      );
    if (role !== "textbox" && role !== "searchbox" && role !== "combobox") return undefined;
    const { value, type } = element as HTMLInputElement;
    if (value === undefined) return undefined;
    // A typed password must not be readable.
    return type === "password" ? "•".repeat(value.length) : value || undefined;
  }

  const shortUrl = (href: string): string => {
    const isHere = href.startsWith(`${location.origin}/`);
    return cut(isHere ? href.slice(location.origin.length) : href, MAX_NAME).replaceAll(" ", "%20");
  };

  return {
    roleOf,
    labelOf,
    hintOf,
    statesOf,
    /** Before reading the page below `root`: finds the focus and clears the cached labels. */
    start(root: Element): void {
      labels = new Map();
      focused = (root.getRootNode() as Document | ShadowRoot).activeElement ?? null;
      while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    },
  };
}

export type Naming = ReturnType<typeof createNaming>;
