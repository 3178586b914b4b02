import { readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { Content, ImagePart } from "@octant/agent";
import { attempt, ToolError, toOneLine } from "@octant/core";
import { findOutsideProjects, pathOutsideProjects, startLaunched } from "@octant/host";
import { withMentions } from "./mentions.ts";
import type { OpenedAgent } from "./open-agent.ts";

/** The limit of the providers. */
const MAX_BYTES = 5_000_000;
const EXTENSION = /\.(?:png|jpe?g|gif|webp)$/i;

/** Pictures that the person adds to a message. They are read at once; the message shows a chip for each. */
export function createPictures(
  opened: Pick<OpenedAgent, "agent" | "octant" | "host" | "servers">,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
) {
  const { roots } = opened.octant.workspace.confinement;
  const attached = new Map<string, ImagePart>();
  const add = (name: string, bytes: Buffer): string | undefined => {
    const mime = mimeOf(bytes);
    if (mime === undefined) return undefined;
    const size = Math.max(1, Math.round(bytes.length / 1000));
    const chip = `[picture ${attached.size + 1}: ${toOneLine(name)}, ${size} kB]`;
    attached.set(chip, { type: "image", mime, data: bytes.toString("base64") });
    return chip;
  };
  return {
    /** Returns the chip for a pasted path, inside or outside the workspace: the person chose it. */
    attach(pasted: string): string | undefined {
      const path = toPath(pasted, roots[0] ?? cwd);
      const bytes = path === undefined ? undefined : readPicture(path);
      return path === undefined || bytes === undefined ? undefined : add(basename(path), bytes);
    },
    async attachClipboard(): Promise<string> {
      const chip = add("clipboard", await readClipboard(env, roots));
      if (chip === undefined) throw noPicture();
      return chip;
    },
    /** The message with its pictures and mentioned files. */
    async toContent(text: string): Promise<Content> {
      const parts = await withMentions(opened, text);
      const pictures = [...attached].filter(([chip]) => text.includes(chip)).map(([, part]) => part);
      const [message, ...mentioned] = parts;
      return message ? [message, ...pictures, ...mentioned] : pictures;
    },
  };
}

/** Terminals quote a dropped path, escape its spaces, or turn it into a URL. */
function toPath(pasted: string, folder: string): string | undefined {
  const text = pasted.trim();
  if (/[\n\0]/.test(text) || text.length > 4096) return undefined;
  const bare = /^(['"])(.*)\1$/.exec(text)?.[2] ?? text.replace(/\\(.)/g, "$1");
  if (!EXTENSION.test(bare)) return undefined;
  return bare.startsWith("file://") ? toFile(bare) : resolve(folder, bare);
}

const toFile = (url: string): string | undefined => attempt(() => fileURLToPath(url));

function readPicture(path: string): Buffer | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= MAX_BYTES ? readFileSync(path) : undefined;
}

const CLIPBOARDS = [
  ["wl-paste", "--no-newline", "--type", "image/png"],
  ["xclip", "-selection", "clipboard", "-t", "image/png", "-o"],
  ["pngpaste", "-"],
] as const;

/** Asks the known clipboard programs in turn for a picture. */
async function readClipboard(env: NodeJS.ProcessEnv, roots: readonly string[]): Promise<Buffer> {
  const path = pathOutsideProjects(env["PATH"] ?? "", roots);
  const programs = CLIPBOARDS.flatMap(([name, ...args]) => {
    const program = findOutsideProjects(name, path, roots);
    return program === undefined ? [] : [{ program, args }];
  });
  const how = "install wl-paste (wl-clipboard) or xclip, or paste the path of a picture";
  const what = "pictures of the clipboard";
  if (programs.length === 0)
    throw new ToolError("UNSUPPORTED", `the clipboard cannot be read; ${how}`, { what, how });
  for (const { program, args } of programs) {
    const child = startLaunched(program, args, {
      env: { ...env, PATH: path },
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.once("error", () => {});
    const bytes = child.stdout ? await buffer(child.stdout) : Buffer.alloc(0);
    if (mimeOf(bytes) && bytes.length <= MAX_BYTES) return bytes;
  }
  throw noPicture();
}

const noPicture = () =>
  new ToolError("NOT_FOUND", `the clipboard has no picture of at most ${MAX_BYTES / 1_000_000} MB`, {});

/** Detected from the first bytes: a name can be wrong. */
function mimeOf(bytes: Buffer): string | undefined {
  const head = bytes.subarray(0, 12).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}
