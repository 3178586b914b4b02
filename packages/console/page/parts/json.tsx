import { useState } from "preact/hooks";
import { Foreign } from "../text/foreign.tsx";

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
