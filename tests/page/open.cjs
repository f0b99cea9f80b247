// Opens files in Chromium one after the other, over its pipe, and runs an expression inside each: no package is needed.
// node open.cjs chromium "expression" < paths as a JSON list → a list of {value, said, dialogs, requests, errors}
"use strict";
const { spawn } = require("child_process");
const { mkdtempSync, readFileSync, rmSync } = require("fs");
const { tmpdir } = require("os");
const { join } = require("path");
const { pathToFileURL } = require("url");

const [browser, expression] = process.argv.slice(2);
const files = JSON.parse(readFileSync(0, "utf8"));
const profile = mkdtempSync(join(tmpdir(), "open-"));
const child = spawn(browser, [
  "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
  "--disable-background-networking", "--hide-scrollbars", "--window-size=1280,1600", `--user-data-dir=${profile}`, "about:blank",
], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
const [, , , input, output] = child.stdio;

let number = 0, rest = "", loaded = () => {};
let seen = null;
const waiting = new Map();

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
    if (!seen) continue;
    if (said.method === "Page.javascriptDialogOpening") {
      seen.dialogs.push(said.params.message);
      send("Page.handleJavaScriptDialog", { accept: true }, said.sessionId);
    }
    if (said.method === "Network.requestWillBeSent") seen.requests.push(said.params.request.url);
    if (said.method === "Runtime.exceptionThrown") seen.errors.push(said.params.exceptionDetails.exception.description);
    if (said.method === "Log.entryAdded") seen.errors.push(said.params.entry.text);
  }
});

const waited = (promise, milliseconds) =>
  Promise.race([promise, new Promise((resolve) => setTimeout(resolve, milliseconds))]);

(async () => {
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find((each) => each.type === "page");
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(`${domain}.enable`, {}, sessionId);
  const found = [];
  for (const file of files) {
    seen = { dialogs: [], requests: [], errors: [] };
    const whenLoaded = new Promise((resolve) => (loaded = resolve));
    await send("Page.navigate", { url: pathToFileURL(file).href }, sessionId);
    await waited(whenLoaded, 20_000);
    const { result } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true }, sessionId);
    found.push({ value: result && result.value, said: result && result.description, ...seen });
  }
  process.stdout.write(JSON.stringify(found), () => child.kill("SIGKILL"));
})();
child.on("exit", () => {
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
});
