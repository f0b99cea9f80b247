// Opens a page in Chromium, over its pipe, and runs an expression inside: no package is needed.
// node browse.cjs chromium page.html "expression" → {value, dialogs, requests, errors} as JSON
"use strict";
const { spawn } = require("child_process");
const { mkdtempSync, rmSync } = require("fs");
const { tmpdir } = require("os");
const { join } = require("path");
const { pathToFileURL } = require("url");

const [browser, file, expression, shot] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "page-"));
const child = spawn(browser, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
  "--hide-scrollbars", "--window-size=1280,1600", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , input, output] = child.stdio;

let number = 0, rest = "";
const waiting = new Map(), seen = { dialogs: [], requests: [], errors: [] };
let loaded;
const whenLoaded = new Promise((resolve) => (loaded = resolve));

function send(method, params = {}, sessionId = undefined) {
  const id = ++number;
  input.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  return new Promise((resolve) => waiting.set(id, resolve));
}

output.on("data", (chunk) => {
  const parts = (rest + chunk).split("\0");
  rest = parts.pop();
  for (const part of parts) {
    const said = JSON.parse(part);
    if (said.id) waiting.get(said.id)(said.result || said.error);
    if (said.method === "Page.loadEventFired") loaded();
    if (said.method === "Page.javascriptDialogOpening") {
      seen.dialogs.push(said.params.message);
      send("Page.handleJavaScriptDialog", { accept: true }, said.sessionId);
    }
    if (said.method === "Network.requestWillBeSent") seen.requests.push(said.params.request.url);
    if (said.method === "Runtime.exceptionThrown") seen.errors.push(said.params.exceptionDetails.exception.description);
    if (said.method === "Log.entryAdded") seen.errors.push(said.params.entry.text);
  }
});

(async () => {
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find((each) => each.type === "page");
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(`${domain}.enable`, {}, sessionId);
  await send("Page.navigate", { url: pathToFileURL(file).href }, sessionId);
  await whenLoaded;
  const { result } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true }, sessionId);
  if (shot) {
    const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: true }, sessionId);
    require("fs").writeFileSync(shot, Buffer.from(data, "base64"));
  }
  process.stdout.write(JSON.stringify({ value: result && result.value, said: result && result.description, ...seen }));
  child.kill("SIGKILL");
})();
child.on("exit", () => {
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
});
