import { type Ecosystem, type EntryPoint, type PackageFolder, toCommands } from "../detect/ecosystem.ts";
import type { Data } from "../formats/data.ts";
import { frameworksAmong, namedAlike } from "./frameworks.ts";

export const cargo: Ecosystem = {
  name: "cargo",
  markers: ["Cargo.toml"],
  rootRunsMembers: true,
  inspect(folder) {
    const manifest = folder.toml("Cargo.toml");
    const workspace = manifest.get("workspace");
    const scope = workspace.isPresent ? " --workspace" : "";
    const excluded = workspace.get("exclude").texts.map((path) => `!${path}`);
    return {
      name: manifest.get("package", "name").text,
      managers: { cargo: "Cargo.toml" },
      build: toCommands({ build: `cargo build${scope}`, check: `cargo check${scope}` }),
      test: toCommands({
        "cargo test": `cargo test${scope}`,
        nextest: folder.hasFile(".config/nextest.toml") && `cargo nextest run${scope}`,
      }),
      frameworks: frameworksAmong(dependenciesOf(manifest), FRAMEWORKS),
      entryPoints: entryPoints(folder, manifest),
      workspaces: workspace.isPresent
        ? { "cargo workspace": [...workspace.get("members").texts, ...excluded] }
        : undefined,
    };
  },
};

const dependenciesOf = (manifest: Data): string[] =>
  [manifest, manifest.get("workspace")].flatMap((table) =>
    ["dependencies", "dev-dependencies", "build-dependencies"].flatMap((kind) => table.get(kind).keys),
  );

function entryPoints(folder: PackageFolder, manifest: Data): EntryPoint[] {
  const declared = manifest.get("bin").items.flatMap((bin): EntryPoint[] => {
    const path = bin.get("path").text;
    return path ? [{ path, kind: "command", name: bin.get("name").text }] : [];
  });
  const found = [...folder.filesBelow()].flatMap((path): EntryPoint[] => {
    if (path === "src/main.rs") return [{ path, kind: "main" }];
    if (path === "src/lib.rs") return [{ path, kind: "library" }];
    const [, name] = /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/.exec(path) ?? [];
    return name === undefined ? [] : [{ path, kind: "command", name }];
  });
  return [...declared, ...found];
}

const FRAMEWORKS = {
  ...namedAlike("axum bevy clap diesel leptos rocket sqlx tauri tokio tonic warp yew"),
  "actix-web": "actix",
};
