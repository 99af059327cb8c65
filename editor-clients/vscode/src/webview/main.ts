/** The webview's start. */
import type { ToWebview } from "../shared/messages";
import { begin } from "./host";
import { Panel } from "./panel";
import "./style/style.css";

const panel = new Panel();
document.body.append(...panel.elements);
window.addEventListener("message", (event: MessageEvent<ToWebview[]>) => {
  for (const message of event.data) panel.take(message);
});
begin();
