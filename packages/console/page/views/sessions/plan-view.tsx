import { Icon } from "../../parts/icon.tsx";
import { Foreign } from "../../text/foreign.tsx";
import type { Transcript } from "./transcript.ts";

export function PlanView({ plan: { title, steps } }: { readonly plan: NonNullable<Transcript["plan"]> }) {
  const done = steps.filter(({ status }) => status === "completed").length;
  return (
    <details class="plan" open={done < steps.length}>
      <summary>
        <Foreign text={title || "Plan"} /> <span class="number">{`${done} of ${steps.length}`}</span>
      </summary>
      <ol>
        {steps.map(({ content, status }, index) => (
          <li
            key={index}
            class={status === "completed" ? "done" : status === "in_progress" ? "current" : undefined}
          >
            <span class="plan-mark">{status === "completed" && <Icon name="check" />}</span>
            <Foreign text={content} />
            <span class="unseen">{status.replace("_", " ")}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
