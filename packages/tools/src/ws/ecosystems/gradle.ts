import type { Ecosystem, PackageFolder } from "../detect/ecosystem.ts";
import { capturesIn, linesOf } from "../formats/lines.ts";
import { frameworksAmong } from "./frameworks.ts";
import { JVM_FRAMEWORKS, jvmEntryPoints } from "./jvm.ts";

const BUILD_FILES = ["build.gradle.kts", "build.gradle"];
const SETTINGS_FILES = ["settings.gradle.kts", "settings.gradle"];

export const gradle: Ecosystem = {
  name: "gradle",
  markers: [...BUILD_FILES, ...SETTINGS_FILES],
  rootRunsMembers: true,
  inspect(folder) {
    const settings = textOf(folder, SETTINGS_FILES);
    const program = folder.names.has("gradlew") ? "./gradlew" : "gradle";
    const members = includedProjects(settings);
    return {
      name: capturesIn(settings, /^rootProject\.name\s?=\s?["']([^"']+)["']/)[0],
      managers: [{ name: "gradle", from: folder.first(...gradle.markers) ?? "build.gradle" }],
      build: [
        { name: "build", command: [program, "assemble"] },
        { name: "check", command: [program, "check"] },
      ],
      test: [{ runner: "gradle", command: [program, "test"] }],
      frameworks: frameworksAmong(quotedIn(textOf(folder, BUILD_FILES)), JVM_FRAMEWORKS),
      entryPoints: jvmEntryPoints(folder),
      workspaces: members.length > 0 ? [{ tool: "gradle", members }] : [],
    };
  },
};

const textOf = (folder: PackageFolder, names: readonly string[]): string => {
  const name = folder.first(...names);
  return name === undefined ? "" : folder.text(name);
};

/** `include(":app", ":lib:core")`, also over several lines, names the folders app and lib/core. */
function includedProjects(settings: string): string[] {
  const included: string[] = [];
  let goesOn = false;
  for (const line of linesOf(settings).map((one) => one.trim())) {
    if (!goesOn && !/^include\b/.test(line)) continue;
    included.push(...quotedIn(line).map((name) => name.replace(/^:/, "").replaceAll(":", "/")));
    goesOn = /[,(]$/.test(line);
  }
  return included;
}

const quotedIn = (text: string): string[] =>
  linesOf(text).flatMap((line) =>
    [...line.matchAll(/["']([^"'$]{1,200})["']/g)].map(([, word]) => word as string),
  );
