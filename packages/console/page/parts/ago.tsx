import { usePage } from "../data/context.ts";
import { toAge, toAgeInWords, toMoment } from "../text/format.ts";

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
