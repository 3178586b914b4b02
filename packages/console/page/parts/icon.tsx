/** Icons of 16 × 16, drawn with the colour of the text. */
const PATHS = {
  now: "M8 2.5a5.5 5.5 0 1 0 5.5 5.5M8 8l4-4M8 8h0",
  approvals: "M8 1.8 13 4v3.6c0 3-2.1 5.4-5 6.6-2.9-1.2-5-3.6-5-6.6V4zM5.8 8l1.6 1.6 2.9-3",
  live: "M1.5 8h2.7l1.6-4.5 3 9 1.8-4.5h3.9",
  jobs: "M2.5 3.5h11v9h-11zM5 6.5 6.8 8 5 9.5M8.5 9.8h2.5",
  sessions: "M3 3.5h10a1 1 0 0 1 1 1v5.5a1 1 0 0 1-1 1H8l-3.2 2.5V11H3a1 1 0 0 1-1-1V4.5a1 1 0 0 1 1-1z",
  search: "M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4M10.2 10.2l3.3 3.3",
  files: "M2 4.2a1 1 0 0 1 1-1h3.2l1.5 1.6H13a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z",
  audit: "M4 2.5h8v11H4zM6.3 5.5h3.4M6.3 8h3.4M6.3 10.5h2",
  health: "M8 13.3S2.5 10 2.5 6.3A2.9 2.9 0 0 1 8 5a2.9 2.9 0 0 1 5.5 1.3C13.5 10 8 13.3 8 13.3",
  hub: "M8 2.2 13 5v6l-5 2.8L3 11V5zM3 5l5 2.9L13 5M8 7.9v5.9",
  more: "M3.2 8h.01M8 8h.01M12.8 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3.2 8.4 6.5 11.6 12.8 4.8",
  chevron: "M6 3.8 10.2 8 6 12.2",
  copy: "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
  again: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v2.8h-2.8",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M4.8 3.2v9.6L12.5 8z",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13 9.3A5.5 5.5 0 0 1 6.7 3a5.5 5.5 0 1 0 6.3 6.3",
  help: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M6.3 6.2a1.8 1.8 0 1 1 2.5 1.7c-.6.3-.8.6-.8 1.3M8 11.4h.01",
  file: "M4 2.2h5l3.2 3.2v8.4H4zM9 2.2v3.2h3.2",
  stop: "M4.5 4.5h7v7h-7z",
  fork: "M4.5 4.8v6.4M4.5 8c4 0 7-.4 7-3.2M4.5 4.8a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6M4.5 13.8a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6M11.5 4.8a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6",
  undo: "M3 6.5h6.5a3.3 3.3 0 0 1 0 6.6H6M3 6.5l3-3M3 6.5l3 3",
  download: "M8 2.5v7.2M4.8 6.8 8 9.9l3.2-3.1M3 13h10",
  plus: "M8 3v10M3 8h10",
  send: "M13.5 2.5 2.5 7l4.5 2 2 4.5z",
  down: "M3.8 6 8 10.2 12.2 6",
  back: "M10 3.8 5.8 8l4.2 4.2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
