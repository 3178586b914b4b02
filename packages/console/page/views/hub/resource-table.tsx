import type { ComponentChildren } from "preact";

export interface Column<R> {
  readonly title: string;
  readonly isNumber?: boolean;
  cell(row: R): ComponentChildren;
}

interface Props<R> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  keyOf(row: R): string;
}

/** A table; on a phone each row is a block of its own. */
export function ResourceTable<R>({ label, rows, columns, keyOf }: Props<R>) {
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={label}>
      <table class="table stacking">
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} class={isNumber ? "right" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, isNumber, cell }) => (
                <td key={title} data-title={title} class={isNumber ? "right" : undefined}>
                  <span class="cell">{cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
