import { useState } from "preact/hooks";
import type { WaitingQuestion } from "../../data/roster.ts";
import { Foreign } from "../../text/foreign.tsx";
import { toVisible } from "../../text/visible.ts";
import { type Field, fieldsOf, toContent } from "./form-fields.ts";
import type { Answering } from "./question-card.tsx";

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
  const web = url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  return (
    <form class="form" onSubmit={accept}>
      {message.includes("\n") && (
        <p class="form-message">
          <Foreign text={message} />
        </p>
      )}
      {url !== undefined && (
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
      )}
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

interface FieldProps {
  readonly field: Field;
  readonly value: unknown;
  onChange(value: unknown): void;
}

function FieldView({
  field: { name, title, description, kind, options, required },
  value,
  onChange,
}: FieldProps) {
  const id = `field-${name}`;
  const isMany = kind === "many";
  return (
    <div class="field">
      <label for={id}>
        <Foreign text={title} />
        {required && <span class="required"> (required)</span>}
      </label>
      {kind === "choice" || isMany ? (
        <select
          id={id}
          class="input"
          multiple={isMany}
          required={required}
          onChange={({ currentTarget }) =>
            onChange(
              isMany ? [...currentTarget.selectedOptions].map((option) => option.value) : currentTarget.value,
            )
          }
        >
          {!isMany && <option value="">Choose</option>}
          {options.map((option) => (
            <option
              key={option.value}
              value={option.value}
              selected={
                isMany
                  ? (value as readonly string[] | undefined)?.includes(option.value)
                  : option.value === value
              }
            >
              {toVisible(option.label)}
            </option>
          ))}
        </select>
      ) : kind === "boolean" ? (
        <input
          id={id}
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      ) : (
        <TextField
          id={id}
          isNumber={kind === "number"}
          required={required}
          value={value}
          onChange={onChange}
        />
      )}
      {description && (
        <p class="field-help">
          <Foreign text={description} />
        </p>
      )}
    </div>
  );
}

interface TextFieldProps {
  readonly id: string;
  readonly isNumber: boolean;
  readonly required: boolean;
  readonly value: unknown;
  onChange(value: string): void;
}

function TextField({ id, isNumber, required, value, onChange }: TextFieldProps) {
  const shown = value === undefined ? "" : String(value);
  const onInput = ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
    onChange(currentTarget.value);
  if (isNumber)
    return (
      <input
        id={id}
        class="input"
        type="number"
        step="any"
        required={required}
        value={shown}
        onInput={onInput}
      />
    );
  return <input id={id} class="input" type="text" required={required} value={shown} onInput={onInput} />;
}
