// What the extension does, with an editor of plain objects: `node --test`.

const assert = require("node:assert");
const Module = require("node:module");
const test = require("node:test");

function loaded(answers, input) {
  const said = { commands: {}, requests: [], messages: [], pages: [] };
  const window = {
    activeTextEditor: { document: { uri: "file:///a.ebnf" } },
    createWebviewPanel: () => ({ webview: { set html(text) { said.pages.push(text); } } }),
    showErrorMessage: (text) => said.messages.push(["error", text]),
    showInformationMessage: (text) => said.messages.push(["information", text]),
    showInputBox: async (options) => { said.offered = options.value; return input; },
    showWarningMessage: (text) => said.messages.push(["warning", text]),
  };
  const vscode = {
    Uri: { file: (path) => `file://${path}` },
    ViewColumn: { Beside: 2 },
    commands: { registerCommand: (name, run) => { said.commands[name] = run; } },
    window,
    workspace: { getConfiguration: () => ({ get: () => ["constrain", "server"] }) },
  };
  class LanguageClient {
    constructor(id, name, server, options) { said.server = server; said.options = options; }
    async start() { if (answers.fails) throw new Error(answers.fails); }
    async restart() { said.restarted = true; }
    async stop() { said.stopped = true; }
    async sendRequest(method, body) { said.requests.push([method, body]); return answers[method]; }
  }
  const stubs = { vscode, "vscode-languageclient/node": { LanguageClient, TransportKind: { stdio: 0 } } };
  const load = Module._load;
  Module._load = (name, ...rest) => stubs[name] || load(name, ...rest);
  delete require.cache[require.resolve("./extension.js")];
  const extension = require("./extension.js");
  Module._load = load;
  return { extension, said };
}

test("it starts the server of the setting, for all languages of the package", async () => {
  const { extension, said } = loaded({});
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(said.server, { command: "constrain", args: ["server"], transport: 0 });
  const named = require("./package.json").contributes;
  const languages = said.options.documentSelector.map((each) => each.language).filter(Boolean);
  assert.deepStrictEqual(languages.sort(), named.languages.map((each) => each.id).sort());
  assert.deepStrictEqual(Object.keys(said.commands).sort(), named.commands.map((each) => each.command).sort());
  await said.commands["constrain.restart"]();
  await extension.deactivate();
  assert.ok(said.restarted && said.stopped);
});

test("it says how to install a server that does not start", async () => {
  const { extension, said } = loaded({ fails: "spawn ENOENT" });
  await extension.activate({ subscriptions: [] });
  assert.match(said.messages[0][1], /pip install 'constrain-grammar\[lsp\]'/);
});

test("it shows the page of the grammar in the editor", async () => {
  const { extension, said } = loaded({ "constrain/inspect": { html: "<html>" } });
  await extension.activate({ subscriptions: [] });
  await said.commands["constrain.inspect"]();
  assert.deepStrictEqual(said.pages, ["<html>"]);
  assert.deepStrictEqual(said.requests, [["constrain/inspect", { textDocument: { uri: "file:///a.ebnf" } }]]);
});

test("it tries the text of a case, with its line breaks", async () => {
  const answer = { status: "rejected", message: "text:1:1: rejected" };
  const { extension, said } = loaded({ "constrain/try": answer }, "a\\nc");
  await extension.activate({ subscriptions: [] });
  await said.commands["constrain.tryText"]("/b.ebnf", "a\nb");
  assert.strictEqual(said.offered, "a\\nb");
  assert.deepStrictEqual(said.requests, [
    ["constrain/try", { textDocument: { uri: "file:///b.ebnf" }, text: "a\nc" }],
  ]);
  assert.deepStrictEqual(said.messages, [["warning", "text:1:1: rejected"]]);
});
