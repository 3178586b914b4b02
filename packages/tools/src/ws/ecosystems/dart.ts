import { type Ecosystem, entryPointsAt, toCommands } from "../detect/ecosystem.ts";
import { linesOf } from "../formats/lines.ts";
import { readYamlText } from "../formats/yaml.ts";

export const dart: Ecosystem = {
  name: "dart",
  markers: ["pubspec.yaml"],
  inspect(folder) {
    const pubspec = folder.text("pubspec.yaml");
    const isFlutter = linesOf(pubspec).some((line) => line.trim() === "sdk: flutter");
    const program = isFlutter ? "flutter" : "dart";
    return {
      name: readYamlText(pubspec, "name"),
      managers: { pub: "pubspec.yaml" },
      build: toCommands({ install: `${program} pub get` }),
      test: toCommands({ [`${program} test`]: `${program} test` }),
      frameworks: isFlutter ? ["flutter"] : [],
      entryPoints: entryPointsAt("main", ["lib/main.dart"].filter(folder.hasFile)),
    };
  },
};
