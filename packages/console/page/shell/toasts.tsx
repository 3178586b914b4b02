import { usePage } from "../data/context.ts";
import { Coded } from "../text/coded.tsx";

export function Toasts() {
  const { store } = usePage();
  return (
    <div class="toasts" role="status" aria-live="polite">
      {store.toasts.value.map(({ id, text, kind }) => (
        <p key={id} class={`toast ${kind}`}>
          <Coded text={text} />
        </p>
      ))}
    </div>
  );
}
