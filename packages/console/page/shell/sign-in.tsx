import { useState } from "preact/hooks";
import { usePage } from "../data/context.ts";
import { Command } from "../parts/command.tsx";

/** The page without a cookie: a new link, or a token. */
export function SignIn({ isLinkGood }: { readonly isLinkGood: boolean }) {
  const { store } = usePage();
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    await store.signIn(token).catch(store.fail);
    setBusy(false);
  };
  return (
    <main class="sign-in" id="main">
      <h1>{isLinkGood ? "Sign in to Octant" : "This link was used or has expired"}</h1>
      <p>A link to the console opens one page, once, within ten minutes. Get a new one from a terminal:</p>
      <Command text="octant console" />
      <p>For the console of a hub:</p>
      <Command text="octant console --hub" />
      <form onSubmit={submit}>
        <label for="token">Or use a token of this server</label>
        <div class="sign-in-row">
          <input
            id="token"
            class="input"
            type="password"
            autocomplete="current-password"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
          <button type="submit" class="button primary" disabled={token === "" || busy}>
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}
