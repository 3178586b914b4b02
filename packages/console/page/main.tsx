import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/controls.css";
import "./styles/status.css";
import "./styles/tabs.css";
import "./styles/code.css";
import "./styles/form.css";
import "./styles/dialog.css";
import "./styles/table.css";
import "./styles/facts.css";
import "./styles/list-detail.css";
import "./styles/panel.css";
import { render } from "preact";
import { takeKey } from "./data/key.ts";
import { createStore } from "./data/store.ts";
import { App } from "./shell/app.tsx";
import { listenToKeys } from "./shell/keys.ts";
import { createRouter } from "./shell/router.ts";
import { createTheme } from "./shell/theme.ts";

const isLinkGood = takeKey();
const root = document.getElementById("app");
if (root)
  render(
    <App
      page={{ store: createStore(), router: createRouter(), keys: listenToKeys() }}
      theme={createTheme()}
      isLinkGood={isLinkGood}
    />,
    root,
  );
