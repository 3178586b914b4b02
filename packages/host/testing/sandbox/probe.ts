/** One way out of a sandbox, as a program that says ESCAPED when it has found it. */
export interface Probe {
  readonly name: string;
  readonly run: "sh" | "python3" | "node";
  readonly script: string;
  /** Who escapes without a sandbox: everybody, only root, or impossible to show without harming this machine. */
  readonly without: "anybody" | "root" | "not shown";
  readonly env?: Readonly<Record<string, string>>;
  readonly network?: "off";
}

export const ESCAPED = "ESCAPED";

const INTERPRETERS = {
  sh: ["/bin/sh", "-c"],
  python3: ["/usr/bin/python3", "-c"],
  node: [process.execPath, "-e"],
} as const;

export const toArgv = ({ run, script }: Probe): [string, ...string[]] => [...INTERPRETERS[run], script];
