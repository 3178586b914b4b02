import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";

const WCAG_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

export interface Barrier {
  readonly id: string;
  readonly target: string;
  readonly summary: string;
}

/** Serious problems of access that axe finds in the page; of contrast alone on request, as between themes. */
export async function findBarriers(page: Page, only?: "color-contrast"): Promise<readonly Barrier[]> {
  const axe = new AxeBuilder({ page });
  const { violations } = await (only ? axe.withRules(only) : axe.withTags(WCAG_AA))
    // The console has no frames; for them axe would open another page each time.
    .setLegacyMode()
    .analyze();
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes: [node] }) => ({
      id,
      target: String(node?.target),
      summary: node?.failureSummary ?? "",
    }));
}
