import { type Ecosystem, type EntryPoint, type PackageFolder, toCommands } from "../detect/ecosystem.ts";
import { capturesIn } from "../formats/lines.ts";
import { frameworksAmong } from "./frameworks.ts";

export const go: Ecosystem = {
  name: "go",
  markers: ["go.mod", "go.work"],
  inspect(folder) {
    const file = folder.names.has("go.mod") ? "go.mod" : "go.work";
    const modules = folder.text("go.mod");
    const [name] = capturesIn(modules, /^module\s+"?([^\s"]+)/);
    if (file === "go.mod" && name === undefined) folder.report("go.mod", "not a go.mod: it names no module");
    const members = capturesIn(folder.text("go.work"), /^(?:use\s)?\s*(\.[^\s()]*)/);
    return {
      name,
      managers: { go: file },
      ...(file === "go.mod" && {
        build: toCommands({ build: "go build ./...", vet: "go vet ./..." }),
        test: toCommands({ "go test": "go test ./..." }),
        entryPoints: entryPoints(folder),
      }),
      frameworks: frameworksAmong(requiredModules(modules), FRAMEWORKS),
      workspaces: folder.names.has("go.work") ? { "go.work": members } : undefined,
    };
  },
};

/** Paths without Go's major version suffix. */
const requiredModules = (text: string): string[] =>
  capturesIn(text, /^(?:require\s)?\s*([\w.-]+\.[\w.-]+\/[^\s]+)\sv/).map((path) =>
    path.replace(/\/v\d+$/, ""),
  );

const entryPoints = (folder: PackageFolder): EntryPoint[] =>
  [...folder.filesBelow()].flatMap((path): EntryPoint[] => {
    const [, name] = /^(?:cmd\/)?([^/]+)\/main\.go$/.exec(path) ?? [];
    if (path === "main.go") return [{ path, kind: "main" }];
    return name === undefined ? [] : [{ path, kind: "command", name }];
  });

const FRAMEWORKS = {
  "github.com/beego/beego": "beego",
  "github.com/gin-gonic/gin": "gin",
  "github.com/go-chi/chi": "chi",
  "github.com/gofiber/fiber": "fiber",
  "github.com/gorilla/mux": "gorilla",
  "github.com/labstack/echo": "echo",
  "github.com/spf13/cobra": "cobra",
  "github.com/stretchr/testify": "testify",
  "google.golang.org/grpc": "grpc",
  "gorm.io/gorm": "gorm",
} as const;
