import { usePage, useProcess } from "../../data/context.ts";
import { Tabs } from "../../parts/choices.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ProcessPicker } from "../../parts/process-picker.tsx";
import { ViewHead } from "../../parts/view-head.tsx";
import { AuditLog } from "./audit-log.tsx";
import { ExplainForm } from "./explain-form.tsx";
import { SandboxPart } from "./sandbox-part.tsx";
import { SettingsPart } from "./settings-part.tsx";
import "./audit.css";

const PARTS = [
  ["log", "Audit log"],
  ["explain", "Explain a call"],
  ["settings", "Settings and hooks"],
  ["sandbox", "Sandbox"],
] as const;
type Part = (typeof PARTS)[number][0];

/** The audit log, and why each call was allowed. */
export function AuditView() {
  const { router } = usePage();
  const process = useProcess();
  const part = PARTS.find(([one]) => one === router.route.value.item)?.[0] ?? "log";
  return (
    <>
      <ViewHead title="Audit and policy">
        <ProcessPicker />
      </ViewHead>
      {process ? (
        <Tabs<Part>
          label="Parts"
          value={part}
          options={PARTS}
          onChange={(next) => router.go("audit", next, { process: router.route.value.query["process"] })}
        >
          {part === "log" && <AuditLog key={process.id} process={process.id} />}
          {part === "explain" && <ExplainForm key={process.id} process={process.id} />}
          {part === "settings" && <SettingsPart process={process.id} />}
          {part === "sandbox" && <SandboxPart process={process.id} />}
        </Tabs>
      ) : (
        <Empty icon="audit" title="No process is running" command="octant audit list">
          The audit log of a project is read through one of its processes. In a terminal it is always there:
        </Empty>
      )}
    </>
  );
}
