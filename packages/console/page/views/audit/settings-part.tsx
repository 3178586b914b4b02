import { useState } from "preact/hooks";
import { useLoad, usePage } from "../../data/context.ts";
import { Badge } from "../../parts/badge.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { Foreign } from "../../text/foreign.tsx";
import { toDuration } from "../../text/format.ts";

/** The settings in effect, where each comes from, and the hooks. */
export function SettingsPart({ process }: { readonly process: string }) {
  const { store } = usePage();
  const [text, setText] = useState("");
  const { data, error, reload } = useLoad(`settings ${process}`, (signal) =>
    store.api.person(process, "settings", {}, signal),
  );
  if (error !== undefined) return <Problem error={error} retry={reload} />;
  if (!data) return <Loading />;
  const shown = data.settings.filter(({ key, value }) =>
    `${key} ${value}`.toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <div class="part-body">
      {data.warnings.map((warning, index) => (
        <p key={index} class="problem">
          <Foreign text={warning} />
        </p>
      ))}
      <div class="part-line">
        <h2>Settings</h2>
        <SearchField label="Search settings" value={text} onInput={setText} />
      </div>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Settings">
        <table class="table settings">
          <thead>
            <tr>
              <th>Setting</th>
              <th>Value</th>
              <th>From</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ key, value, tier, file, line }) => (
              <tr key={key}>
                <td>
                  <code>
                    <Foreign text={key} />
                  </code>
                </td>
                <td>
                  {value === "" && tier === "default" ? (
                    <span class="calm">not set</span>
                  ) : (
                    <Foreign text={value} />
                  )}
                </td>
                <td>
                  <Badge tone={tier === "default" ? "plain" : "accent"}>{tier}</Badge>{" "}
                  {file !== null && (
                    <span class="calm">
                      <Foreign text={`${file}${line === null ? "" : `:${line}`}`} />
                    </span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>Hooks</h2>
      {data.hooks.length === 0 ? (
        <p class="calm">
          No hooks. They run a command of yours before or after a call; docs/skills-and-hooks.md shows how.
        </p>
      ) : (
        <div class="scroll-x" tabIndex={0} role="region" aria-label="Hooks">
          <table class="table">
            <thead>
              <tr>
                <th>Event</th>
                <th>Calls</th>
                <th>Command</th>
                <th class="right">Time limit</th>
              </tr>
            </thead>
            <tbody>
              {data.hooks.map(({ event, tool_pattern, command, timeout_ms }, index) => (
                <tr key={index}>
                  <td>
                    <Foreign text={event} oneLine />
                  </td>
                  <td>
                    <code>
                      <Foreign text={tool_pattern} />
                    </code>
                  </td>
                  <td>
                    <code>
                      <Foreign text={command} />
                    </code>
                  </td>
                  <td class="right">{toDuration(timeout_ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
