import { usePage } from "../data/context.ts";
import { Dialog } from "../parts/dialog.tsx";

export function HelpOverlay({ onClose }: { onClose(): void }) {
  const { keys } = usePage();
  const all = [...keys.list(), ["Esc", "Close, or leave a field"] as const];
  const jumps = all.filter(([key]) => key.startsWith("g "));
  const others = all.filter(([key]) => !key.startsWith("g "));
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div class="key-columns">
        <KeyTable title="Go to" rows={jumps} />
        <KeyTable title="Here" rows={others} />
      </div>
    </Dialog>
  );
}

function KeyTable({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
}) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="keys">
        {rows.map(([key, help]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{help.replace(/^Go to /, "")}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
