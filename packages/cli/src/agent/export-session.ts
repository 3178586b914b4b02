import { exportHtml, exportJson, exportMarkdown, type StampedEvent } from "@octant/agent";

export const EXPORT_FORMATS = ["json", "markdown", "html"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A session as one file for people or programs. */
export async function exportSession(events: Iterable<StampedEvent>, format: ExportFormat): Promise<string> {
  if (format === "json") return exportJson([...events]);
  if (format === "markdown") return exportMarkdown([...events]);
  const { markdownToHtml } = await import("@octant/terminal");
  return exportHtml([...events], markdownToHtml);
}
