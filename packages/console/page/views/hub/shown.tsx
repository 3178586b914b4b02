import type { ComponentChildren } from "preact";
import type { Loaded } from "../../data/context.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";

/** The data, or that it is being loaded, or why it could not be loaded. */
export function Shown<T>({
  loaded: { data, error, reload },
  children,
}: {
  readonly loaded: Loaded<T>;
  children(data: T): ComponentChildren;
}) {
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined && error === undefined && <Loading />}
      {data !== undefined && children(data)}
    </>
  );
}
