import { Failed } from "../data/api.ts";
import { Foreign } from "../text/foreign.tsx";

/** The server's error message, with a button that tries again. */
export function Problem({ error, retry }: { readonly error: unknown; retry?(): void }) {
  const { code, message, details } =
    error instanceof Failed ? error : { code: "ERROR", message: String(error), details: undefined };
  const how: unknown = Object(details).how;
  return (
    <div class="problem" role="alert">
      <strong>{code}</strong>
      <p>
        <Foreign text={message} />
      </p>
      {typeof how === "string" && (
        <p>
          <Foreign text={how} />
        </p>
      )}
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}
