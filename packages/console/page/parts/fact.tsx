import { Coded } from "../text/coded.tsx";

/** A row of a list of facts. */
export function Fact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Coded text={text} />
      </dd>
    </div>
  );
}
