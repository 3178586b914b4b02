import type { Terminal } from "@xterm/headless";

const BASIC = "#000 #c33 #3a3 #a80 #36c #a3a #2aa #bbb #666 #f55 #5c5 #fc5 #69f #f6f #5dd #fff".split(" ");
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The visible screen of an emulator as an HTML page, for a screenshot. */
export function toHtml(terminal: Terminal, background: "dark" | "light"): string {
  const { baseY, cursorX, cursorY } = terminal.buffer.active;
  const [paper, ink] = background === "dark" ? ["#16181d", "#d6d9de"] : ["#ffffff", "#24292f"];
  const rows = Array.from({ length: terminal.rows }, (_, y) => {
    const line = terminal.buffer.active.getLine(baseY + y);
    let html = "";
    for (let x = 0; x < terminal.cols; x++) {
      const cell = line?.getCell(x);
      if (!cell || cell.getWidth() === 0) continue;
      const color = cell.isFgRGB()
        ? hex(cell.getFgColor())
        : cell.isFgPalette()
          ? indexed(cell.getFgColor())
          : ink;
      const isCursor = x === cursorX && y === cursorY;
      const inverse = isCursor || cell.isInverse() !== 0;
      const style = [
        `color:${inverse ? paper : color}`,
        inverse ? `background:${color}` : "",
        cell.isBold() ? "font-weight:bold" : "",
        cell.isItalic() ? "font-style:italic" : "",
        cell.isUnderline() ? "text-decoration:underline" : "",
        cell.isStrikethrough() ? "text-decoration:line-through" : "",
      ].filter(Boolean);
      html += `<span style="${style.join(";")}">${escapeHtml(cell.getChars() || " ")}</span>`;
    }
    return html;
  });
  return `<!doctype html><meta charset="utf-8"><body style="margin:0;background:${paper}"><pre style="margin:16px;font:15px/1.25 'DejaVu Sans Mono',monospace">${rows.join("\n")}</pre>`;
}

const hex = (color: number) => `#${color.toString(16).padStart(6, "0")}`;

function indexed(index: number): string {
  if (index < 16) return BASIC[index] ?? "#fff";
  if (index >= 232)
    return `rgb(${Array(3)
      .fill(8 + (index - 232) * 10)
      .join(",")})`;
  const at = index - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((level) => LEVELS[level]).join(",")})`;
}

const escapeHtml = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
