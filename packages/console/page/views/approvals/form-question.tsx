import { useState } from "preact/hooks";
import type { WaitingQuestion } from "../../data/roster.ts";
import type { Answering } from "../../data/store.ts";
import { CheckField, Field, FieldGroup } from "../../parts/field.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toVisible } from "../../text/visible.ts";
import { type FormField, fieldsOf, toContent } from "./form-fields.ts";

interface Props {
  readonly question: WaitingQuestion;
  readonly busy: boolean;
  readonly mayAnswer: boolean;
  onAnswer(answer: Answering): void;
}

/** A form of a tool or an MCP server, or a confirmation. */
export function FormQuestion({ question, busy, mayAnswer, onAnswer }: Props) {
  const fields = fieldsOf(question.schema);
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(() =>
    Object.fromEntries(fields.map(({ name, initial }) => [name, initial])),
  );
  const { kind, message = "", url } = question;
  const accept = (event: Event) => {
    event.preventDefault();
    onAnswer({ answer: "accept", ...(fields.length > 0 && { content: toContent(fields, values) }) });
  };
  return (
    <form class="form" onSubmit={accept}>
      {message.includes("\n") && (
        <p class="form-message">
          <Foreign text={message} />
        </p>
      )}
      {url !== undefined && <Address url={url} />}
      {fields.map((field) => (
        <FieldView
          key={field.name}
          field={field}
          value={values[field.name]}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {!mayAnswer && <p class="calm">This page may look but not answer: its token has no admin access.</p>}
      <div class="answer-buttons">
        <button type="submit" class="button large primary" disabled={busy || !mayAnswer}>
          {kind === "confirmation" ? <Foreign text={question.yes ?? "Yes"} oneLine /> : "Send"}
        </button>
        <button
          type="button"
          class="button large"
          disabled={busy || !mayAnswer}
          onClick={() => onAnswer({ answer: "decline" })}
        >
          {kind === "confirmation" ? "No" : "Decline"}
        </button>
        <button
          type="button"
          class="button large quiet"
          disabled={busy || !mayAnswer}
          onClick={() => onAnswer({ answer: "cancel" })}
        >
          Cancel the call
        </button>
      </div>
    </form>
  );
}

/** An address that the person has to open; only one of the web is a link. */
function Address({ url }: { readonly url: string }) {
  const web = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  return (
    <p class="form-url">
      {web ? (
        <>
          <a href={web.href} target="_blank" rel="noopener noreferrer">
            Open the page
          </a>{" "}
          <span class="link-host">({web.host})</span>
        </>
      ) : (
        <code>
          <Foreign text={url} />
        </code>
      )}
    </p>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: unknown;
  onChange(value: unknown): void;
}

function FieldView({ field, value, onChange }: FieldProps) {
  const { name, title, description, kind, options, required, attributes } = field;
  const id = `field-${name}`;
  const about = { id, label: title, required, help: description };
  if (kind === "boolean") return <CheckField {...about} checked={value === true} onChange={onChange} />;
  if (kind === "many") {
    const chosen: readonly unknown[] = Array.isArray(value) ? value : [];
    return (
      <FieldGroup {...about}>
        {options.map((option) => (
          <CheckField
            key={option.value}
            id={`${id}-${option.value}`}
            label={option.label}
            checked={chosen.includes(option.value)}
            onChange={(isChosen) =>
              onChange(
                options
                  .map((one) => one.value)
                  .filter((one) => (one === option.value ? isChosen : chosen.includes(one))),
              )
            }
          />
        ))}
      </FieldGroup>
    );
  }
  if (kind === "choice")
    return (
      <Field {...about}>
        <select
          id={id}
          class="input"
          required={required}
          value={value === undefined ? "" : String(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        >
          <option value="">Choose</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {toVisible(option.label)}
            </option>
          ))}
        </select>
      </Field>
    );
  return (
    <Field {...about}>
      <input
        {...attributes}
        id={id}
        class="input"
        required={required}
        value={value === undefined ? "" : String(value)}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </Field>
  );
}
