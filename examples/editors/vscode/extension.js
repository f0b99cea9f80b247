// The client of `constrain server` in VS Code: it starts the server, shows pages, and tries texts.

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

// What the server reads; JSON by its names alone.
const LANGUAGES = [
  "kbnf", "gbnf", "w3c", "lark", "iso14977", "ebnf", "abnf", "antlr", "regex", "constrain-cases",
];
const JSON_FILES = ["**/*.schema.json", "**/*.tools.json", "**/*.structural-tag.json"];

let client;

function started() {
  const [command, ...args] = vscode.workspace.getConfiguration("constrain").get("command");
  const server = { command, args, transport: TransportKind.stdio };
  const documentSelector = [
    ...LANGUAGES.map((language) => ({ language })),
    ...JSON_FILES.map((pattern) => ({ scheme: "file", pattern })),
  ];
  return new LanguageClient("constrain", "constrain", server, { documentSelector });
}

async function activate(context) {
  client = started();
  const commands = { "constrain.inspect": inspect, "constrain.tryText": tryText, "constrain.restart": restart };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `constrain's language server does not start: ${error.message}. Install it with ` +
        "pip install 'constrain-grammar[lsp]', and name it in the setting constrain.command.",
    );
  }
}

async function restart() {
  await client.restart();
}

// The grammar in the editor, or none.
function here() {
  const editor = vscode.window.activeTextEditor;
  return editor && editor.document.uri.toString();
}

async function inspect() {
  const uri = here();
  if (!uri) return;
  const { html } = await client.sendRequest("constrain/inspect", { textDocument: { uri } });
  const panel = vscode.window.createWebviewPanel("constrain", "Grammar", vscode.ViewColumn.Beside, {
    enableScripts: true,
  });
  panel.webview.html = html;
}

// `grammar` and `text` come from a sign over a case; else the grammar is the one in the editor.
async function tryText(grammar, text) {
  const uri = grammar ? vscode.Uri.file(grammar).toString() : here();
  if (!uri) return;
  const given = await vscode.window.showInputBox({
    prompt: "A text: is it a member?",
    value: (text || "").replace(/\n/g, "\\n"),
  });
  if (given === undefined) return;
  const body = { textDocument: { uri }, text: given.replace(/\\n/g, "\n") };
  const { status, message } = await client.sendRequest("constrain/try", body);
  const show = status === "accepted" ? "showInformationMessage" : "showWarningMessage";
  vscode.window[show](message);
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
