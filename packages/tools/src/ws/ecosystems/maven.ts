import type { Ecosystem } from "../detect/ecosystem.ts";
import { elementTexts, withoutComments, withoutElements } from "../formats/xml.ts";
import { frameworksAmong } from "./frameworks.ts";
import { JVM_FRAMEWORKS, jvmEntryPoints } from "./jvm.ts";

export const maven: Ecosystem = {
  name: "maven",
  markers: ["pom.xml"],
  rootRunsMembers: true,
  inspect(folder) {
    const pom = withoutComments(folder.text("pom.xml"));
    if (!pom.includes("<project") || !pom.includes("</project>")) {
      folder.report("pom.xml", "not a Maven project: there is no <project>…</project>");
    }
    const program = folder.names.has("mvnw") ? "./mvnw" : "mvn";
    const members = elementTexts(pom, "module");
    return {
      name: ownName(pom),
      managers: [{ name: "maven", from: "pom.xml" }],
      build: [
        { name: "build", command: [program, "package", "-DskipTests"] },
        { name: "compile", command: [program, "compile"] },
      ],
      test: [{ runner: "maven", command: [program, "test"] }],
      frameworks: frameworksAmong(elementTexts(pom, "groupId"), JVM_FRAMEWORKS),
      entryPoints: jvmEntryPoints(folder),
      workspaces: members.length > 0 ? [{ tool: "maven modules", members }] : [],
    };
  },
};

/** The first artifactId that is not the parent's, nor a dependency's or plugin's. */
const ownName = (pom: string): string | undefined => {
  const inner = ["parent", "dependencyManagement", "dependencies", "build", "profiles"];
  return elementTexts(inner.reduce(withoutElements, pom), "artifactId")[0];
};
