import { type Ecosystem, entryPointsAt, type PackageFolder, toCommands } from "../detect/ecosystem.ts";
import { parentOf } from "../detect/paths.ts";
import { capturesIn } from "../formats/lines.ts";
import { attributesOf, readElements, textsOf } from "../formats/xml.ts";
import { frameworksAmong } from "./frameworks.ts";

const PROJECTS = [".csproj", ".fsproj", ".vbproj"];
const SOLUTIONS = [".sln", ".slnx"];

export const dotnet: Ecosystem = {
  name: "dotnet",
  markers: [...PROJECTS, ...SOLUTIONS].map((suffix) => `*${suffix}`),
  rootRunsMembers: true,
  inspect(folder) {
    const [solution] = SOLUTIONS.flatMap(folder.ending);
    const [project] = PROJECTS.flatMap(folder.ending);
    const xml = readElements(project ? folder.text(project) : "");
    const sdks = attributesOf(xml, "Project", "Sdk");
    if (project && !xml.some(({ name }) => name === "Project"))
      folder.report(project, "not a .NET project: there is no <Project>");
    const packages = attributesOf(xml, "PackageReference", "Include");
    const isTested = packages.includes("Microsoft.NET.Test.Sdk");
    const isProgram =
      textsOf(xml, "OutputType").includes("Exe") || sdks.some((sdk) => sdk.includes("Sdk.Web"));
    const file = solution ?? project ?? "";
    return {
      name: file.replace(/\.\w+$/, ""),
      managers: { nuget: file },
      build: toCommands({ build: "dotnet build" }),
      test: toCommands({ "dotnet test": (solution || isTested) && "dotnet test" }),
      frameworks: frameworksAmong([...packages, ...sdks], FRAMEWORKS),
      entryPoints: isProgram
        ? entryPointsAt("main", ["Program.cs", "Program.fs"].filter(folder.hasFile))
        : [],
      workspaces: solution ? { solution: memberFolders(folder, solution) } : undefined,
    };
  },
};

/** The project folders of a solution; `.slnx` is XML, `.sln` has one line each. */
function memberFolders(folder: PackageFolder, solution: string): string[] {
  const text = folder.text(solution);
  const projects = solution.endsWith("x")
    ? attributesOf(readElements(text), "Project", "Path")
    : capturesIn(text, /^Project\([^)]*\)\s?=\s?"[^"]*",\s?"([^"]+proj)"/);
  return projects.map((path) => parentOf(path.replaceAll("\\", "/"))).filter(Boolean);
}

const FRAMEWORKS = {
  Avalonia: "avalonia",
  "Microsoft.AspNetCore.": "aspnet",
  "Microsoft.EntityFrameworkCore": "entity-framework",
  "Microsoft.EntityFrameworkCore.": "entity-framework",
  "Microsoft.Maui.": "maui",
  "Microsoft.NET.Sdk.BlazorWebAssembly": "blazor",
  "Microsoft.NET.Sdk.Web": "aspnet",
  MSTest: "mstest",
  "MSTest.": "mstest",
  NUnit: "nunit",
  xunit: "xunit",
  "xunit.": "xunit",
} as const;
