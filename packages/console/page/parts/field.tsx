import type { ComponentChildren } from "preact";
import { Foreign } from "../text/foreign.tsx";

interface Props {
  /** Of the control, for its label. */
  readonly id: string;
  readonly label: string;
  readonly required?: boolean;
  readonly help?: string;
  readonly children: ComponentChildren;
}

/** A control of a form with its label above it and a help text below. */
export function Field({ id, label, required, help, children }: Props) {
  return (
    <div class="field">
      <label for={id}>
        <Foreign text={label} />
        {required && <span class="required"> (required)</span>}
      </label>
      {children}
      {help && <Help text={help} />}
    </div>
  );
}

/** A box to tick, with its label beside it. */
export function CheckField({
  id,
  label,
  help,
  checked,
  onChange,
}: Omit<Props, "required" | "children"> & {
  readonly checked: boolean;
  onChange(checked: boolean): void;
}) {
  return (
    <div class="field">
      <label class="check" for={id}>
        <input
          id={id}
          type="checkbox"
          checked={checked}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        <Foreign text={label} />
      </label>
      {help && <Help text={help} />}
    </div>
  );
}

/** Several boxes of one question. */
export function FieldGroup({ label, required, help, children }: Omit<Props, "id">) {
  return (
    <fieldset class="field">
      <legend>
        <Foreign text={label} />
        {required && <span class="required"> (required)</span>}
      </legend>
      {children}
      {help && <Help text={help} />}
    </fieldset>
  );
}

const Help = ({ text }: { readonly text: string }) => (
  <p class="field-help">
    <Foreign text={text} />
  </p>
);
