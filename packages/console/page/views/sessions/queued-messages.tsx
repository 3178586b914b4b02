import { Foreign } from "../../text/foreign.tsx";

interface Props {
  readonly messages: readonly string[];
  onTakeBack(): void;
}

/** Messages to a working agent that it has not read yet. */
export function QueuedMessages({ messages, onTakeBack }: Props) {
  if (messages.length === 0) return null;
  return (
    <div class="queued" role="status">
      {messages.map((text, index) => (
        <p key={index}>
          <span class="calm">Queued: </span>
          <Foreign text={text} />
        </p>
      ))}
      <button type="button" class="button" onClick={onTakeBack}>
        Take back
      </button>
    </div>
  );
}
