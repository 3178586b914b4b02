import { once } from "node:events";
import { text } from "node:stream/consumers";
import { findOutsideProjects, pathOutsideProjects, startLaunched } from "@octant/host";

interface Notification {
  readonly title: string;
  readonly text: string;
}

export interface NotifierOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly roots: readonly string[];
  /** The escape sequence of this terminal for it; undefined when it has none. */
  toSequence(notification: Notification, env: NodeJS.ProcessEnv, passesThrough: boolean): string | undefined;
  write(sequence: string): void;
}

/** Notifies the person through the terminal, or with notify-send where it cannot; neither is waited for. */
export function createNotifier({
  env,
  roots,
  toSequence,
  write,
}: NotifierOptions): (notification: Notification) => Promise<void> {
  const path = pathOutsideProjects(env["PATH"] ?? "", roots);
  const start = (name: string, args: readonly string[], stdout: "pipe" | "ignore") => {
    const program = findOutsideProjects(name, path, roots);
    if (program === undefined) return undefined;
    const child = startLaunched(program, args, {
      env: { ...env, PATH: path },
      stdio: ["ignore", stdout, "ignore"],
    });
    child.once("error", () => {});
    return child;
  };
  /** tmux drops the sequences of programs unless its option lets them through. */
  const passesThrough = async () => {
    const pane = env["TMUX_PANE"] ? ["-t", env["TMUX_PANE"]] : [];
    const tmux = start("tmux", ["display-message", "-p", ...pane, "#{allow-passthrough}"], "pipe");
    return tmux?.stdout ? /^(1|on|all)$/.test((await text(tmux.stdout)).trim()) : false;
  };
  return async (notification) => {
    const sequence = toSequence(notification, env, Boolean(env["TMUX"]) && (await passesThrough()));
    if (sequence !== undefined) return write(sequence);
    if (!env["DISPLAY"] && !env["WAYLAND_DISPLAY"]) return;
    const { title, text: body } = notification;
    const sent = start("notify-send", ["--app-name=Octant", "--", title, body], "ignore");
    if (sent) await once(sent, "exit").catch(() => {});
  };
}
