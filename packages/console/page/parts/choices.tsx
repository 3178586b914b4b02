import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

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
  // Many tabs do not fit a phone.
  useEffect(() => {
    list.current
      ?.querySelector("[aria-selected=true]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [value]);
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
