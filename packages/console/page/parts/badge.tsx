import type { ComponentChildren } from "preact";
import { Foreign } from "../text/foreign.tsx";

export type Tone = "good" | "warn" | "bad" | "accent" | "plain";

export function Badge({
  tone = "plain",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}) {
  const content = typeof children === "string" ? <Foreign text={children} oneLine /> : children;
  return <span class={`badge ${tone}`}>{content}</span>;
}

/** A state as a coloured dot; the text next to it names it. */
export function Dot({ tone, moving }: { readonly tone: Tone; readonly moving?: boolean }) {
  return <span class={`dot ${tone}${moving ? " moving" : ""}`} aria-hidden="true" />;
}
