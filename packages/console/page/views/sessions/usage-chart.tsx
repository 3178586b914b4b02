import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { toCost, toCount } from "../../text/format.ts";
import type { UsagePoint } from "./transcript.ts";

const HEIGHT_PX = 180;
const AXIS_PX = 56;

/** Cost and context after each answer of the model. */
export function UsageChart({ points }: { readonly points: readonly UsagePoint[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = place.current;
    if (!node || points.length === 0) return;
    const chart = draw(node, points);
    const observer = new ResizeObserver(() => chart.setSize({ width: node.clientWidth, height: HEIGHT_PX }));
    observer.observe(node);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [points.length]);
  if (points.length === 0) return <p class="calm">The model has not answered yet.</p>;
  const last = points.at(-1);
  const label = `Cost ${toCost(last?.cost ?? 0)} and context ${toCount(last?.context ?? 0)} tokens after ${points.length} answers`;
  return <div ref={place} class="chart" role="img" aria-label={label} />;
}

function draw(node: HTMLElement, points: readonly UsagePoint[]): uPlot {
  const colour = (name: string) => getComputedStyle(node).getPropertyValue(name).trim();
  const grid = { stroke: colour("--line"), width: 1 };
  const axis = { stroke: colour("--text-3"), grid, ticks: { show: false }, font: "11px system-ui" };
  // Without a known price there is no cost to draw.
  const hasCost = points.some(({ cost }) => cost > 0);
  const series: uPlot.Series[] = [
    { label: "Answer" },
    {
      label: "Context",
      scale: "tokens",
      stroke: colour("--kind-model"),
      width: 2,
      value: (_, v) => (v === null ? "–" : `${toCount(v)} tokens`),
    },
    ...(hasCost
      ? [
          {
            label: "Cost",
            scale: "cost",
            stroke: colour("--warn"),
            width: 2,
            value: (_: uPlot, v: number | null) => toCost(v),
          },
        ]
      : []),
  ];
  const axes: uPlot.Axis[] = [
    { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100] },
    {
      ...axis,
      scale: "tokens",
      stroke: colour("--kind-model"),
      size: AXIS_PX,
      values: (_, ticks) => ticks.map(toCount),
    },
    ...(hasCost
      ? [
          {
            ...axis,
            scale: "cost",
            stroke: colour("--warn"),
            side: 1,
            size: AXIS_PX,
            grid: { show: false },
            values: (_: uPlot, ticks: number[]) => ticks.map((v) => `$${v}`),
          },
        ]
      : []),
  ];
  const data: uPlot.AlignedData = [
    points.map((_, index) => index + 1),
    points.map(({ context }) => context),
    ...(hasCost ? [points.map(({ cost }) => cost)] : []),
  ];
  const showLast = (chart: uPlot) =>
    chart.cursor.idx == null && chart.setLegend({ idx: points.length - 1 }, false);
  return new uPlot(
    {
      width: node.clientWidth,
      height: HEIGHT_PX,
      series,
      axes,
      scales: { x: { time: false } },
      // The legend is empty while the pointer is elsewhere.
      hooks: { ready: [showLast], setCursor: [showLast] },
    },
    data,
    node,
  );
}
