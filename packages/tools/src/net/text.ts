import type { ActionText, Reader } from "@octant/core";

interface ResponseData {
  readonly status: number;
  readonly url: string;
  readonly redirects: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly size: number;
  readonly text?: string | undefined;
  readonly json?: unknown;
  readonly base64?: string | undefined;
  readonly title?: string | undefined;
  readonly tail?: string | undefined;
  readonly omitted?: { readonly bytes: number; readonly start: { readonly line: number } } | undefined;
  readonly truncated: boolean;
  readonly ref?: string | undefined;
  readonly note?: string | undefined;
}

/** Headers that a next request depends on; without a body all headers are shown. */
const TELLING =
  /^(content-type|location|link|etag|last-modified|retry-after|www-authenticate|set-cookie|allow|x-ratelimit-.*|ratelimit.*)$/;

export function responseText(data: ResponseData): ActionText {
  const { status, url, redirects, headers, size, title, tail, omitted, truncated, ref, note } = data;
  const content = data.text ?? data.base64 ?? (data.json === undefined ? "" : JSON.stringify(data.json));
  const shown = Object.entries(headers).filter(([name]) => content === "" || TELLING.test(name));
  const lines = shown.flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  const gap =
    omitted &&
    `[… ${omitted.bytes} bytes omitted; continue with the ref at line ${omitted.start.line + 1} …]`;
  return {
    body: [
      `HTTP ${status}${redirects > 0 ? ` from ${url}` : ""}`,
      ...lines,
      "",
      ...(title ? [`# ${title}`, ""] : []),
      content,
      ...(tail === undefined ? [] : [gap ?? "[…]", tail]),
    ].join("\n"),
    notes: [`${size} bytes`, note],
    handles: truncated ? { ref } : {},
  };
}

interface DownloadData {
  readonly uri: string;
  readonly size: number;
  readonly hash: string;
  readonly undo: string | null;
  readonly mime?: string | undefined;
}

export const downloadText = (
  { uri, size, hash, undo, mime }: DownloadData,
  { path }: Reader,
): ActionText => ({
  body: `saved ${path(uri)}, ${size} bytes${mime ? `, ${mime}` : ""}`,
  handles: { hash, undo },
});
