import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { toCost, toCount } from "../../text/format.ts";
import type { UsagePoint } from "./transcript.ts";

const HEIGHT_PX = 180;

/** Cost and context after each answer of the model. */
export function UsageChart({ points }: { readonly points: readonly UsagePoint[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = place.current;
    if (!node || points.length === 0) return;
    const colour = (name: string) => getComputedStyle(node).getPropertyValue(name).trim();
    const axis = {
      stroke: colour("--text-3"),
      grid: { stroke: colour("--line"), width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const chart = new uPlot(
      {
        width: node.clientWidth,
        height: HEIGHT_PX,
        legend: { show: true },
        series: [
          { label: "Answer" },
          {
            label: "Context",
            scale: "tokens",
            stroke: colour("--kind-model"),
            width: 2,
            value: (_, v) => (v === null ? "" : `${toCount(v)} tokens`),
          },
          { label: "Cost", scale: "cost", stroke: colour("--accent"), width: 2, value: (_, v) => toCost(v) },
        ],
        scales: { x: { time: false } },
        axes: [
          { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100] },
          { ...axis, scale: "tokens", size: 56, values: (_, ticks) => ticks.map(toCount) },
          {
            ...axis,
            scale: "cost",
            side: 1,
            size: 56,
            grid: { show: false },
            values: (_, ticks) => ticks.map((v) => `$${v}`),
          },
        ],
      },
      [
        points.map((_, index) => index + 1),
        points.map(({ context }) => context),
        points.map(({ cost }) => cost),
      ],
      node,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: node.clientWidth, height: HEIGHT_PX }));
    observer.observe(node);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [points.length]);
  if (points.length === 0) return <p class="calm">The model has not answered yet.</p>;
  const last = points.at(-1);
  return (
    <div
      ref={place}
      class="chart"
      role="img"
      aria-label={`Cost ${toCost(last?.cost ?? 0)} and context ${toCount(last?.context ?? 0)} tokens after ${points.length} answers`}
    />
  );
}
