import { Icon } from "./icon.tsx";

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
        }}
      />
    </label>
  );
}
