import type { ActionText, Reader } from "@octant/core";
import type { z } from "zod";
import type { Detected } from "./answer.ts";

type Data = z.output<typeof Detected>;

/** One line per fact about the project. */
export function detectedText(data: Data, { path }: Reader): ActionText {
  const { vcs, monorepo, omitted, scanned, truncated } = data;
  const named = ({ name, uri }: { name: string; uri: string }) => `${name} (${path(uri)})`;
  const command = (words: readonly string[], cwd: string) =>
    `${words.join(" ")}${path(cwd) === "." ? "" : ` in ${path(cwd)}`}`;
  const lines: [string, readonly string[]][] = [
    ["languages", data.languages.map(({ name, share }) => `${name} ${Math.round(share * 100)} %`)],
    ["package managers", data.package_managers.map(named)],
    ["build", data.build.map((one) => `${one.name}: ${command(one.command, one.cwd)}`)],
    ["test", data.test.map((one) => `${command(one.command, one.cwd)} (${one.runner})`)],
    ["frameworks", data.frameworks.map(named)],
    [
      "entry points",
      data.entry_points.map((one) => `${path(one.uri)} (${one.kind}${one.exists ? "" : ", built first"})`),
    ],
    ["monorepo", monorepo ? monorepo.tools.map(named) : []],
    ["packages", monorepo ? monorepo.packages.map(named) : []],
    [
      "git",
      vcs
        ? [
            `${vcs.branch ?? `detached at ${vcs.commit}`}${path(vcs.uri) === "." ? "" : `, top ${path(vcs.uri)}`}`,
          ]
        : [],
    ],
    ["read first", data.instructions.map(path)],
    ["containers", data.containers.map(path)],
    ["CI", data.ci.map(path)],
    ["problems", data.problems.map(({ uri, message }) => `${path(uri)}: ${message}`)],
  ];
  const others = data.roots.filter((root) => root !== data.root).map(path);
  return {
    body: [
      `${data.name} in ${path(data.root)}${others.length > 0 ? ` (other roots: ${others.join(", ")})` : ""}`,
      ...lines.flatMap(([name, items]) => (items.length > 0 ? [`${name}: ${items.join("; ")}`] : [])),
    ].join("\n"),
    notes: [
      truncated && `only ${scanned.files} files were looked at`,
      ...Object.entries(omitted).map(([name, count]) => `${count} more ${name.replaceAll("_", " ")}`),
    ],
  };
}
