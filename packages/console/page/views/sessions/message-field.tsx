import { usePage } from "../../data/context.ts";
import { Icon } from "../../parts/icon.tsx";
import type { Draft } from "../../parts/use-draft.ts";

interface Props {
  readonly draft: Draft;
  readonly placeholder: string;
  readonly isBusy: boolean;
  onSend(): void;
}

/** Enter sends, Shift-Enter is a new line. */
export function MessageField({ draft, placeholder, isBusy, onSend }: Props) {
  const { store } = usePage();
  const isReader = store.me.value?.access === "read";
  return (
    <form
      class="message-box"
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
    >
      <textarea
        class="input"
        rows={2}
        aria-label="Message to the agent"
        placeholder={placeholder}
        value={draft.get()}
        disabled={isReader}
        onInput={({ currentTarget }) => draft.set(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          onSend();
        }}
      />
      <button
        type="submit"
        class="button primary icon-only"
        aria-label="Send"
        disabled={isBusy || isReader || draft.get().trim() === ""}
      >
        <Icon name="send" />
      </button>
    </form>
  );
}
