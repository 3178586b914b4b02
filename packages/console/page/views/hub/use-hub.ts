import { type Loaded, useLoad, usePage } from "../../data/context.ts";
import { HUB } from "./hub-data.ts";

/** The hub changes without a call of this page, so what is shown is read again this often. */
const REFRESH_MS = 5_000;

/** The data of an action of the hub, read again while it is shown; nothing is read without a name. */
export function useHub<T>(name: string | undefined, input: object = {}): Loaded<T> {
  const { store } = usePage();
  const tick = Math.floor(store.now.value / REFRESH_MS);
  return useLoad(
    name && `${name} ${JSON.stringify(input)}`,
    (signal) => store.api.data<T>(HUB, name ?? "", input, signal),
    String(tick),
  );
}
