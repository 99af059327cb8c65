// A scripted editor on vscode-jsonrpc: documents of JavaScript strings, whose places are UTF-16 like LSP's positions.
// Plays the cases that it is given one after another and prints what became of each as one JSON line.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-jsonrpc/node");

const [command, folder, cases] = [JSON.parse(process.argv[2]), process.argv[3], JSON.parse(process.argv[4])];

class Document {
  constructor(connection, uri, text) {
    Object.assign(this, { connection, uri, text, version: 1 });
  }

  open() {
    const { uri, version, text } = this;
    return this.connection.sendNotification("textDocument/didOpen", {
      textDocument: { uri, languageId: "plaintext", version, text },
    });
  }

  offset({ line, character }) {
    let start = 0;
    for (let row = 0; row < line; row += 1) start = this.text.indexOf("\n", start) + 1;
    return start + character;
  }

  position(offset) {
    const before = this.text.slice(0, offset);
    return { line: before.split("\n").length - 1, character: offset - (before.lastIndexOf("\n") + 1) };
  }

  async replace(edits) {
    const last = [...edits].sort((one, other) => other.start - one.start);
    const contentChanges = last.map(({ start, end, text }) => {
      const range = { start: this.position(start), end: this.position(end) };
      this.text = this.text.slice(0, start) + text + this.text.slice(end);
      return { range, text };
    });
    this.version += 1;
    const { uri, version } = this;
    await this.connection.sendNotification("textDocument/didChange", { textDocument: { uri, version }, contentChanges });
  }

  type(old, text) {
    const start = this.text.indexOf(old);
    return this.replace([{ start, end: start + old.length, text }]);
  }

  apply({ textDocument, edits }) {
    if (textDocument.version !== this.version) return false;
    return this.replace(
      edits.map((edit) => ({
        start: this.offset(edit.range.start),
        end: this.offset(edit.range.end),
        text: edit.newText,
      })),
    ).then(() => true);
  }
}

class Editor {
  constructor(connection) {
    this.connection = connection;
    this.documents = new Map();
    this.reset("honest");
    connection.onRequest("workspace/applyEdit", (params) => this.edit(params));
    connection.onRequest("document/save", (params) => this.save(params));
  }

  reset(manner) {
    Object.assign(this, { manner, edits: 0, saves: 0 });
    this.documents.clear();
  }

  async open(file, text) {
    const uri = file.startsWith("untitled:") ? file : pathToFileURL(file).href;
    const document = new Document(this.connection, uri, text);
    document.file = file;
    this.documents.set(uri, document);
    await document.open();
    return document;
  }

  async edit({ edit }) {
    this.edits += 1;
    const [change] = edit.documentChanges;
    const document = this.documents.get(change.textDocument.uri);
    if (this.manner === "lost") return { applied: true };
    if (this.manner === "stale") {
      await document.type("last", "last, typed");
      return { applied: true };
    }
    const applied = await document.apply(change);
    if (this.manner === "typing") await document.type("end", "end, typed");
    return { applied };
  }

  async save({ uri, version }) {
    this.saves += 1;
    const document = this.documents.get(uri);
    if (document.version !== version) return { saved: false };
    fs.writeFileSync(document.file, document.text);
    await this.connection.sendNotification("textDocument/didSave", { textDocument: { uri } });
    return { saved: true };
  }
}

async function turn(connection, words) {
  const { session } = await connection.sendRequest("session/create", { directory: folder });
  await connection.sendRequest("session/update", { sessionId: session.id, mode: "acceptEdits" });
  const parts = [{ type: "text", text: words }];
  const ended = await connection.sendRequest("session/prompt", { sessionId: session.id, parts, wait: "idle" });
  const { messages } = await connection.sendRequest("session/messages", { sessionId: session.id });
  const states = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "tool").map(({ state }) => state));
  return { stopReason: ended.stopReason, state: states.at(-1) };
}

async function arrange(editor, { standing, name, disk, user, elsewhere }) {
  if (standing === "untitled") return editor.open(`untitled:${name}`, user);
  const file = path.join(folder, name);
  fs.writeFileSync(file, disk);
  const document = await editor.open(file, disk);
  if (standing === "stale" || standing === "conflict") {
    await turn(editor.connection, `<settle ${name}>`);
    fs.writeFileSync(file, elsewhere);
  }
  if (standing === "dirty" || standing === "conflict") await document.type("disk", "user");
  if (standing === "closed") {
    await editor.connection.sendNotification("textDocument/didClose", { textDocument: { uri: document.uri } });
  }
  return document;
}

async function play(editor, one) {
  editor.reset(one.manner);
  const document = await arrange(editor, one);
  const { stopReason, state } = await turn(editor.connection, `<${one.word}>`);
  const { edits, saves } = editor;
  const disk = fs.existsSync(document.file) ? fs.readFileSync(document.file, "utf8") : null;
  return { stopReason, state, edits, saves, buffer: document.text, disk };
}

async function main() {
  const server = spawn(command[0], command.slice(1), { cwd: folder, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const editor = new Editor(connection);
  connection.listen();
  const uri = pathToFileURL(folder).href;
  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: uri,
    workspaceFolders: [{ uri, name: "folder" }],
    capabilities: { workspace: { applyEdit: true, workspaceEdit: { documentChanges: true } } },
    initializationOptions: {
      agentls: { protocolVersion: 1, clientId: "node", ui: { permission: true }, documents: { save: true }, trusted: true },
    },
  });
  await connection.sendNotification("initialized", {});
  const done = [];
  for (const one of cases) done.push(await play(editor, one));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  await exited;
  return done;
}

main().then(
  (done) => process.stdout.write(JSON.stringify(done) + "\n", () => process.exit(0)),
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);
