import {
  type Ecosystem,
  type EntryPoint,
  entryPointsAt,
  type PackageFolder,
  toCommands,
  workspaceOf,
} from "../detect/ecosystem.ts";
import { capturesIn, linesOf } from "../formats/lines.ts";
import { type Element, readElements, textsOf } from "../formats/xml.ts";
import { frameworksAmong } from "./frameworks.ts";

export const maven: Ecosystem = {
  name: "maven",
  markers: ["pom.xml"],
  rootRunsMembers: true,
  inspect(folder) {
    const pom = readElements(folder.text("pom.xml"));
    if (!pom.some(({ name, isClosed }) => name === "project" && isClosed))
      folder.report("pom.xml", "not a Maven project: there is no <project>…</project>");
    const program = folder.names.has("mvnw") ? "./mvnw" : "mvn";
    return {
      name: ownName(pom),
      managers: { maven: "pom.xml" },
      build: toCommands({ build: `${program} package -DskipTests`, compile: `${program} compile` }),
      test: toCommands({ maven: `${program} test` }),
      frameworks: frameworksAmong(textsOf(pom, "groupId"), JVM_FRAMEWORKS),
      entryPoints: jvmEntryPoints(folder),
      workspaces: workspaceOf("maven modules", textsOf(pom, "module")),
    };
  },
};

/** Elements with the artifactId of something else. */
const OTHERS = new Set(["parent", "dependencyManagement", "dependencies", "build", "profiles"]);

function ownName(pom: readonly Element[]): string | undefined {
  const inner = new Set<Element>();
  // An element comes after the one around it.
  for (const element of pom)
    if (OTHERS.has(element.name) || (element.parent && inner.has(element.parent))) inner.add(element);
  const own = pom.filter((element) => !inner.has(element));
  return textsOf(own, "artifactId")[0];
}

const BUILD_FILES = ["build.gradle.kts", "build.gradle"];
const SETTINGS_FILES = ["settings.gradle.kts", "settings.gradle"];

export const gradle: Ecosystem = {
  name: "gradle",
  markers: [...BUILD_FILES, ...SETTINGS_FILES],
  rootRunsMembers: true,
  inspect(folder) {
    const settings = textOf(folder, SETTINGS_FILES);
    const program = folder.names.has("gradlew") ? "./gradlew" : "gradle";
    return {
      name: capturesIn(settings, /^rootProject\.name\s?=\s?["']([^"']+)["']/)[0],
      managers: { gradle: folder.first(...gradle.markers) ?? "build.gradle" },
      build: toCommands({ build: `${program} assemble`, check: `${program} check` }),
      test: toCommands({ gradle: `${program} test` }),
      frameworks: frameworksAmong(quotedIn(textOf(folder, BUILD_FILES)), JVM_FRAMEWORKS),
      entryPoints: jvmEntryPoints(folder),
      workspaces: workspaceOf("gradle", includedProjects(settings)),
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

/** Identified by the artifact's group, which Maven and Gradle share. */
const JVM_FRAMEWORKS = {
  "androidx.": "android",
  "com.android.": "android",
  "io.dropwizard": "dropwizard",
  "io.ktor": "ktor",
  "io.micronaut": "micronaut",
  "io.micronaut.": "micronaut",
  "io.quarkus": "quarkus",
  "io.quarkus.": "quarkus",
  "io.vertx": "vertx",
  "jakarta.platform": "jakarta-ee",
  "org.apache.spark": "spark",
  "org.hibernate.": "hibernate",
  "org.springframework.": "spring",
} as const;

/** The files that contain `main` by convention; finding it elsewhere would mean reading every file. */
const jvmEntryPoints = (folder: PackageFolder): EntryPoint[] =>
  entryPointsAt(
    "main",
    [...folder.filesBelow()].filter((path) => /(^|\/)(Main|App|\w+Application)\.(java|kt|scala)$/.test(path)),
  );
