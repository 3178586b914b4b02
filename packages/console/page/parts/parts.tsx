import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failed } from "../data/api.ts";
import { usePage } from "../data/context.ts";
import { Foreign } from "../text/foreign.tsx";
import { toAge, toAgeInWords, toMoment } from "../text/format.ts";
import { toVisible } from "../text/visible.ts";
import { Icon, type IconName } from "./icon.tsx";

interface HeadProps {
  readonly title: string;
  readonly detail?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** The title of a view, and its controls. */
export function ViewHead({ title, detail, children }: HeadProps) {
  return (
    <header class="view-head">
      <div class="view-title">
        <h1>{title}</h1>
        {detail && <p>{detail}</p>}
      </div>
      {children && <div class="view-controls">{children}</div>}
    </header>
  );
}

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  /** What to type in a terminal. */
  readonly command?: string;
}

/** Says why there is nothing, and what to do. */
export function Empty({ icon, title, children, command }: EmptyProps) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {command && <Command text={command} />}
    </div>
  );
}

/** A line for a terminal, with a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  return (
    <div class="command">
      <code>
        <Foreign text={text} />
      </code>
      <CopyButton text={text} label="Copy the command" />
    </div>
  );
}

const COPIED_MS = 1_500;

export function CopyButton({
  text,
  label,
  children,
}: {
  readonly text: string;
  readonly label: string;
  readonly children?: ComponentChildren;
}) {
  const { store } = usePage();
  const [copied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), COPIED_MS);
    }, store.fail);
  return (
    <button
      type="button"
      class={children ? "button" : "button icon-only"}
      {...(children === undefined && { "aria-label": label })}
      title={label}
      onClick={copy}
    >
      <Icon name={copied ? "check" : "copy"} />
      {children}
    </button>
  );
}

/** What went wrong, in the words of the server, and a way to try again. */
export function Problem({ error, retry }: { readonly error: unknown; retry?(): void }) {
  const { code, message } = error instanceof Failed ? error : { code: "ERROR", message: String(error) };
  return (
    <div class="problem" role="alert">
      <strong>{code}</strong>
      <p>
        <Foreign text={message} />
      </p>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading({ label = "Loading" }: { readonly label?: string }) {
  return (
    <div class="loading" role="status" aria-label={label}>
      <span />
      <span />
      <span />
    </div>
  );
}

export type Tone = "good" | "warn" | "bad" | "accent" | "plain";

export function Badge({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  const content = typeof children === "string" ? <Foreign text={children} oneLine /> : children;
  return <span class={`badge ${tone}`}>{content}</span>;
}

/** A state as a coloured dot; the text next to it names it. */
export function Dot({ tone, moving }: { readonly tone: Tone; readonly moving?: boolean }) {
  return <span class={`dot ${tone}${moving ? " moving" : ""}`} aria-hidden="true" />;
}

/** How long ago; the exact time as a tooltip. */
export function Ago({ at, inWords }: { readonly at: number | string; readonly inWords?: boolean }) {
  const { store } = usePage();
  const time = typeof at === "number" ? at : Date.parse(at);
  return (
    <time class="number" dateTime={new Date(time).toISOString()} title={toMoment(time, store.now.value)}>
      {inWords ? toAgeInWords(store.now.value - time) : toAge(store.now.value - time)}
    </time>
  );
}

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly options: readonly (readonly [NoInfer<T>, string])[];
  readonly onChange: (value: NoInfer<T>) => void;
}

/** A choice of few, all visible. */
export function Segments<T extends string>({ label, value, options, onChange }: SegmentsProps<T>) {
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {options.map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

interface TabsProps<T extends string> extends SegmentsProps<T> {
  readonly children: ComponentChildren;
}

/** Sections of a view of which one is shown. */
export function Tabs<T extends string>({ label, value, options, onChange, children }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (by: number) => {
    const index = options.findIndex(([option]) => option === value);
    const next = options[(index + by + options.length) % options.length];
    if (!next) return;
    onChange(next[0]);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[options.indexOf(next)]?.focus();
  };
  return (
    <div class="tabbed">
      <div
        ref={list}
        class="tab-list"
        role="tablist"
        aria-label={label}
        data-keys
        onKeyDown={(event) => {
          if (event.key === "ArrowRight") move(1);
          if (event.key === "ArrowLeft") move(-1);
        }}
      >
        {options.map(([option, text]) => (
          <button
            key={option}
            type="button"
            role="tab"
            id={`tab-${option}`}
            aria-selected={option === value}
            aria-controls={`panel-${value}`}
            tabIndex={option === value ? 0 : -1}
            onClick={() => onChange(option)}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`panel-${value}`} aria-labelledby={`tab-${value}`}>
        {children}
      </div>
    </div>
  );
}

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  onInput(value: string): void;
  onEnter?(): void;
}

/** A field that `/` focuses. */
export function SearchField({ label, value, placeholder = label, onInput, onEnter }: SearchProps) {
  return (
    <label class="search-field">
      <Icon name="search" />
      <span class="unseen">{label}</span>
      <input
        type="search"
        data-search
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") onEnter?.();
          if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
    </label>
  );
}

interface DialogProps {
  readonly title: string;
  onClose(): void;
  readonly wide?: boolean;
  readonly children: ComponentChildren;
}

/** A window above the page; Escape closes it and the focus returns. */
export function Dialog({ title, onClose, wide, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "dialog wide" : "dialog"}
      aria-label={toVisible(title)}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <header>
        <h2>
          <Foreign text={title} oneLine />
        </h2>
        <button type="button" class="button icon-only quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

/** A value as indented JSON; long ones are cut with a note. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "undefined");
  const [whole, setWhole] = useState(false);
  const shown = whole ? text : text.slice(0, MAX_JSON_CHARS).toWellFormed();
  return (
    <div class="json">
      <pre class="code" tabIndex={0} role="region" aria-label={label}>
        <Foreign text={shown} />
      </pre>
      {text.length > shown.length && (
        <button type="button" class="button" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      )}
    </div>
  );
}

const MAX_JSON_CHARS = 20_000;
